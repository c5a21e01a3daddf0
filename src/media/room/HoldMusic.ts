import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import { WorkId } from "../../domain/Id.ts"
import type { Sound } from "../Frame.ts"
import type { FarEnd } from "../FarEnd.ts"
import type { Playable } from "../../ports/media/Playback.ts"
import type { Mix } from "../mix/Mix.ts"
import * as Player from "../mix/Player.ts"
import type { PlaybackFailure } from "../plane/Protocol.ts"

/** A leg on hold. */
interface Leg {
  readonly mix: Pick<Mix, "add" | "remove">
  readonly far: Pick<FarEnd, "rate">
}

interface Music {
  readonly player: Player.Player
  readonly leg: Leg
}

export type HoldMusic = ReturnType<typeof make>

/**
 * The sounds that members on hold hear, each for itself, again and again: behind all else that its leg hears. One that
 * cannot be had is silence.
 */
export const make = (of: {
  /** Names this one; no other of its room has the name. */
  readonly name: string
  readonly want: (id: WorkId, sound: Playable, rate: SampleRate) => void
  readonly unwant: (id: WorkId) => void
}) => {
  const playing = new Map<WorkId, Music>()
  let begun = 0

  const end = (leg: Leg): void => {
    for (const music of playing.values()) if (music.leg === leg) leg.mix.remove(music.player)
  }

  return {
    /** In place of what this leg hears. */
    begin: (leg: Leg, url: string): void => {
      end(leg)
      const id = WorkId.make(`${of.name} hold ${++begun}`)
      const ended = (): void => {
        playing.delete(id)
        of.unwant(id)
        // One that failed is silent for good, and a leg may be held again and again.
        leg.mix.remove(player)
      }
      const want: Player.Want = ({ sound }) => of.want(id, sound, leg.far.rate())
      const player: Player.Player = Player.make({ ended }, want, () => undefined)
      playing.set(id, { player, leg })
      player.play(id, { type: "url", url }, { loop: Number.POSITIVE_INFINITY })
      leg.mix.add(player, "hold")
    },
    /** Fades it out, if it sounds. */
    end,
    /** False when it is not for any of these. */
    supply: (id: WorkId, sound: Sound, isLast: boolean): boolean => {
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
