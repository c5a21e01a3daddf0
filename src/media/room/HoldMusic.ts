import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import { WorkId } from "../../domain/Id.ts"
import * as Frame from "../Frame.ts"
import type { FarEnd } from "../FarEnd.ts"
import type { Playable } from "../../ports/media/PlaybackMessages.ts"
import type { Mix } from "../mix/Mix.ts"
import type * as PlaybackQueue from "../mix/PlaybackQueue.ts"
import type { Source } from "../mix/Source.ts"
import * as Comfort from "./Comfort.ts"
import * as Player from "../mix/Player.ts"
import type { PlaybackFailure } from "../plane/Protocol.ts"

interface Leg {
  readonly mix: Pick<Mix, "add" | "remove">
  readonly far: Pick<FarEnd, "rate">
}

interface Music {
  readonly player: Player.Player
  readonly leg: Leg
}

const comfortNoise = (): Source => {
  const comfort = Comfort.make()
  let sum = new Int32Array(Frame.lengthAt(8000))
  let frame = Frame.make(8000)
  return {
    next: (rate) => {
      frame = Frame.at(rate, frame)
      const { length } = frame.samples
      if (sum.length !== length) sum = new Int32Array(length)
      sum.fill(0)
      comfort.addTo(sum, length)
      frame.samples.set(sum)
      return frame
    },
    pass: () => undefined,
    ready: () => true,
    close: () => undefined
  }
}

/**
 * The sounds of members on hold. Each has its own, repeated, with the rank `hold` in the mix of its leg. In place of
 * one that cannot be played the leg hears comfort noise, so that the line does not seem dead.
 */
export const make = (of: {
  /** A name that is unique among these of a room, for the ids of the sounds. */
  readonly name: string
  readonly want: (id: WorkId, sound: Playable, rate: SampleRate) => void
  readonly unwant: (id: WorkId) => void
  /** The sound that was begun under this id cannot be played. */
  readonly failed: (id: WorkId, reason: string | null) => void
}) => {
  const playing = new Map<WorkId, Music>()
  const noises = new Map<Leg, Source>()
  let started = 0

  const end = (leg: Leg): void => {
    for (const music of playing.values()) if (music.leg === leg) leg.mix.remove(music.player)
    const noise = noises.get(leg)
    if (noise === undefined) return
    noises.delete(leg)
    leg.mix.remove(noise)
  }

  const replace = (leg: Leg): void => {
    const noise = comfortNoise()
    noises.set(leg, noise)
    leg.mix.add(noise, "hold")
  }

  return {
    /** Begins the sound of this leg in place of the one it has. `as`: the id of its report. */
    start: (leg: Leg, url: string, as?: WorkId): void => {
      end(leg)
      const id = WorkId.make(`${of.name} hold ${++started}`)
      const ended: PlaybackQueue.Asker["ended"] = (_, { reason, status }) => {
        playing.delete(id)
        of.unwant(id)
        // A failed sound is removed, because it stays silent and a leg may be held again and again.
        leg.mix.remove(player)
        if (status !== "failed") return
        replace(leg)
        if (as !== undefined) of.failed(as, reason)
      }
      const want: Player.Want = ({ sound }) => of.want(id, sound, leg.far.rate())
      const player: Player.Player = Player.make({ ended }, want, () => undefined)
      playing.set(id, { player, leg })
      player.play(id, { type: "url", url }, { loop: Number.POSITIVE_INFINITY })
      leg.mix.add(player, "hold")
    },
    /** Fades out the sound of a leg, if it has one. */
    end,
    /** Returns false if the piece is for none of these sounds. */
    supply: (id: WorkId, sound: Frame.Sound, isLast: boolean): boolean => {
      const music = playing.get(id)
      music?.player.supply(id, sound, isLast)
      return music !== undefined
    },
    fail: (id: WorkId, reason: PlaybackFailure): boolean => {
      const music = playing.get(id)
      music?.player.fail(id, reason)
      return music !== undefined
    }
  }
}
