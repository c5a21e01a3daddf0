import type { WorkId } from "../../domain/Id.ts"
import type { MediaCommand, MediaEnded, MediaEvent } from "../../ports/media/MediaMessage.ts"
import type { Playable, Target } from "../../ports/media/PlaybackMessages.ts"
import * as Player from "./Player.ts"
import type { Asker } from "./PlaybackQueue.ts"

type Command = Extract<
  MediaCommand,
  { readonly type: "play" | "speak" | "prompt" | "stop_prompt" | "stop_playback" | "cut_playback" }
>

interface Options {
  readonly emit: (event: MediaEvent) => void
  readonly want: Player.Want
  /** Gives up the sound of another asker, because this leg needs no more of it. */
  readonly unwant: (id: WorkId) => void
  /** The players of the legs that this leg is connected with. */
  readonly others: () => ReadonlyArray<Player.Player>
}

interface SharedPlaybacks {
  /** Plays to this leg, whichever leg was asked. */
  readonly player: Player.Player
  /** `hearers` replaces the targets that a command names; may be empty. */
  readonly command: (media: Command, hearers?: ReadonlyArray<Player.Player>) => void
  /** Ends the sounds of this leg on legs that are no longer connected with it. */
  readonly parted: (others: ReadonlyArray<Player.Player>) => void
  /** Ends the sounds of this leg on a leg that has left the room; they continue for the others. */
  readonly left: (player: Player.Player) => void
}

type End = Pick<MediaEnded, "status" | "reason">

const alone = { status: "failed", reason: "not_bridged" } as const satisfies End
const gone = { status: "stopped", reason: "member_left" } as const satisfies End

/**
 * The sounds that a leg is asked to play: on itself, on the legs it is connected with, or on all of them. Each leg has
 * one queue for all sounds played to it, whichever leg was asked. A sound for several legs is in the queue of each, and
 * ends when it has ended in all. Its end on a leg that has left a room counts only if all of them have left.
 */
export const make = ({ emit, others, unwant, want }: Options): SharedPlaybacks => {
  /** The sounds for several legs: in how many queues each still is, and its first end that was not `completed`. */
  const shared = new Map<WorkId, { left: number; end: End | null }>()

  const asker: Asker = {
    ended: (id, end) => {
      const parts = shared.get(id) ?? { left: 1, end: null }
      parts.left--
      const isOpen = parts.end === null || parts.end.status === "completed"
      if (isOpen && end.reason !== gone.reason) parts.end = end
      if (parts.left > 0) return
      shared.delete(id)
      emit({ type: "ended", id, ...(parts.end ?? end) })
    }
  }
  const player = Player.make(asker, want, unwant)

  /** `nobody` is the end when there is no leg to play to. */
  const play = (id: WorkId, sound: Playable, players: ReadonlyArray<Player.Player>, nobody: End, loop = 1): void => {
    if (players.length === 0) return emit({ type: "ended", id, ...nobody })
    if (players.length > 1) shared.set(id, { left: players.length, end: null })
    for (const each of players) each.play(id, sound, { asker, loop })
  }

  /** Empty when the leg is not connected with another. */
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
      const nobody = hearers === undefined ? alone : gone
      switch (media.type) {
        case "play":
          return play(media.id, { type: "url", url: media.url }, hearers ?? named(media.target), nobody, media.loop)
        case "speak":
          return play(media.id, { type: "speech", speech: media.speech }, hearers ?? [player], nobody)
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
    },
    left: (player) => player.stop(asker, gone.reason)
  }
}
