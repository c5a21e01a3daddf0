import { Effect } from "effect"
import type { MediaPlane } from "../../media/plane/MediaPlane.ts"
import { isAttended } from "../../ports/media/MediaMessage.ts"
import type { CarrierCommand } from "../Carrier.ts"
import * as SimulatedLine from "./SimulatedLine.ts"

type Media = Extract<CarrierCommand, { readonly type: "media" }>

/** How long the media plane may take to open a leg. */
const openTimeoutMs = 5000
/** How many commands wait on one leg for its media; the next one fails. */
const maxWaiting = 16

export type LineMedia = ReturnType<typeof make>

/** The media of simulated legs: a phone in the plane, or the leg at the other end. */
export const make = (plane: MediaPlane["Service"]) => {
  const handOver = (line: SimulatedLine.SimulatedLine, { media, tenantId }: Media): Effect.Effect<void> =>
    plane.command(line.id, tenantId, media)

  return {
    /** False when the plane has no place for it. */
    connect: Effect.fnUntraced(function* (line: SimulatedLine.SimulatedLine) {
      const { tenantId } = line
      if (tenantId === null) return false
      line.hasMedia = true
      yield* plane.subscribe(line.id, {
        told: (event) => {
          if (line.early?.owns(event) !== true) SimulatedLine.report(line, { type: "media", event })
        },
        lost: () => SimulatedLine.post(line, { type: "input", input: { type: "fault" } })
      })
      const near = line.near ?? line.peer?.near ?? undefined
      const opened =
        line.peer === null
          ? plane.openPhone(line.id, tenantId, line.script?.voice ?? { type: "silence" }, near)
          : plane.openJoined(line.id, tenantId, line.peer.id, near)
      const isOpen = yield* opened.pipe(
        Effect.timeout(openTimeoutMs),
        Effect.match({ onSuccess: () => true, onFailure: () => false })
      )
      if (isOpen) yield* Effect.forEach(line.waiting.splice(0), (command) => handOver(line, command), { discard: true })
      return isOpen
    }),
    disconnect: (line: SimulatedLine.SimulatedLine): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (!line.hasMedia) return Effect.void
        line.hasMedia = false
        return plane.close(line.id)
      }),
    /** Null when the leg is not answered and so has no media for this command. */
    command: (line: SimulatedLine.SimulatedLine, command: Media): Effect.Effect<void> | null => {
      if (line.leg.phase === "talking") return handOver(line, command)
      // Work that begins with the ringing of a leg begins with its first sound.
      if (!isAttended(command.media)) return null
      if (line.hasMedia) return handOver(line, command)
      return line.waiting.push(command) <= maxWaiting ? Effect.void : null
    }
  }
}
