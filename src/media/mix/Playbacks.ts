import type { WorkId } from "../../domain/Id.ts"
import type { MediaCommand, MediaEnded, MediaEvent } from "../message/MediaMessage.ts"
import type { Playable, Target } from "../message/Playback.ts"
import * as Player from "./Player.ts"
import type { Asker } from "./PlaybackQueue.ts"

type Command = Extract<
  MediaCommand,
  { readonly type: "play" | "speak" | "prompt" | "stop_prompt" | "stop_playback" | "cut_playback" }
>

interface Options {
  readonly emit: (event: MediaEvent) => void
  readonly want: Player.Want
  /** Of a sound that another leg was asked for nothing more is needed here. */
  readonly unwant: (id: WorkId) => void
  /** The players of those that the leg is connected with. */
  readonly others: () => ReadonlyArray<Player.Player>
}

export interface Playbacks {
  /** What is played to this leg, whoever was asked for it. */
  readonly player: Player.Player
  /** `hearers`: who hears it, in place of the targets that a command names; may be empty. */
  readonly command: (media: Command, hearers?: ReadonlyArray<Player.Player>) => void
  /** These are no longer connected with the leg (or room): what it has played to them is over. */
  readonly parted: (others: ReadonlyArray<Player.Player>) => void
}

type End = Pick<MediaEnded, "status" | "reason">

/**
 * The sounds that a leg is asked for: on itself, on those that it is connected with, or on all of them. Each leg has one
 * queue for all that is played to it, whoever was asked. A sound for several stands in the queue of each, and ends when
 * it has ended in all.
 */
export const make = ({ emit, others, unwant, want }: Options): Playbacks => {
  /** Of sounds for several, in how many queues they still are, and the first end that was not `completed`. */
  const shared = new Map<WorkId, { left: number; cut: End | null }>()

  const asker: Asker = {
    ended: (id, end) => {
      const parts = shared.get(id) ?? { left: 1, cut: null }
      parts.left--
      if (end.status !== "completed") parts.cut ??= end
      if (parts.left > 0) return
      shared.delete(id)
      emit({ type: "ended", id, ...(parts.cut ?? end) })
    }
  }
  const player = Player.make(asker, want, unwant)

  const play = (id: WorkId, sound: Playable, players: ReadonlyArray<Player.Player>, loop = 1): void => {
    if (players.length === 0) return emit({ type: "ended", id, status: "failed", reason: "not_bridged" })
    if (players.length > 1) shared.set(id, { left: players.length, cut: null })
    for (const each of players) each.play(id, sound, { asker, loop })
  }

  /** Empty: there is nobody else. */
  const named = (target: Target): ReadonlyArray<Player.Player> => {
    if (target === "self") return [player]
    const opposite = others()
    return target === "opposite" || opposite.length === 0 ? opposite : [player, ...opposite]
  }

  const stop = (which: "current" | "all", players: ReadonlyArray<Player.Player>): void => {
    if (which === "all") return players.forEach((each) => each.stop(asker))
    const heard = new Set(players.flatMap((each) => each.current(asker) ?? []))
    for (const id of heard) players.forEach((each) => each.stopOne(id))
  }

  return {
    player,
    command: (media, hearers) => {
      switch (media.type) {
        case "play":
          return play(media.id, { type: "url", url: media.url }, hearers ?? named(media.target), media.loop)
        case "speak":
          return play(media.id, { type: "speech", speech: media.speech }, hearers ?? [player])
        case "cut_playback":
          return player.stop(null)
        case "prompt":
          player.stop(null)
          return player.play(media.id, media.sound, { stoppedBy: media.stoppedBy })
        case "stop_prompt":
          return player.stopOne(media.promptId)
        case "stop_playback":
          return stop(media.which, hearers ?? [player, ...others()])
      }
    },
    parted: (left) => {
      for (const each of left) each.stop(asker, "unbridged")
    }
  }
}
