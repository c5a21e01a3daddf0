import type { SampleRate } from "../../audio/SampleRate.ts"
import { WorkId } from "../../domain/Id.ts"
import type { Sound } from "../Frame.ts"
import type { LocalLeg } from "../LocalLeg.ts"
import type { Playable } from "../message/Playback.ts"
import * as Player from "../mix/Player.ts"
import type { PlaybackFailure } from "../Protocol.ts"

interface Music {
  readonly player: Player.Player
  readonly leg: LocalLeg
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

  const end = (leg: LocalLeg): void => {
    for (const music of playing.values()) if (music.leg === leg) leg.mix.remove(music.player)
  }

  return {
    /** In place of what this leg hears. */
    begin: (leg: LocalLeg, url: string): void => {
      end(leg)
      const id = WorkId.make(`${of.name} hold ${++begun}`)
      const ended = (): void => {
        playing.delete(id)
        of.unwant(id)
      }
      const want: Player.Want = ({ sound }) => of.want(id, sound, leg.far.rate())
      const player = Player.make({ ended }, want, () => undefined)
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
