import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import { WorkId } from "../../domain/Id.ts"
import type { Sound } from "../Frame.ts"
import type { FarEnd } from "../FarEnd.ts"
import type { Playable } from "../../ports/media/PlaybackMessages.ts"
import type { Mix } from "../mix/Mix.ts"
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

/**
 * The sounds of members on hold. Each has its own, repeated, with the rank `hold` in the mix of its leg. One that
 * cannot be fetched is silence.
 */
export const make = (of: {
  /** A name that is unique among these of a room, for the ids of the sounds. */
  readonly name: string
  readonly want: (id: WorkId, sound: Playable, rate: SampleRate) => void
  readonly unwant: (id: WorkId) => void
}) => {
  const playing = new Map<WorkId, Music>()
  let started = 0

  const end = (leg: Leg): void => {
    for (const music of playing.values()) if (music.leg === leg) leg.mix.remove(music.player)
  }

  return {
    /** Begins the sound of this leg in place of the one it has. */
    start: (leg: Leg, url: string): void => {
      end(leg)
      const id = WorkId.make(`${of.name} hold ${++started}`)
      const ended = (): void => {
        playing.delete(id)
        of.unwant(id)
        // A failed sound is removed, because it stays silent and a leg may be held again and again.
        leg.mix.remove(player)
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
