import * as Id from "../domain/Id.ts"
import type { TenantId } from "../domain/Id.ts"
import type { MediaCommand, MediaEvent } from "../ports/media/MediaMessage.ts"
import type { CarrierCommand } from "./CarrierCommand.ts"

type Dial = Extract<CarrierCommand, { readonly type: "dial" }>

/**
 * The sound between us and a callee before it answers, guide/sip.md#early-media: a sound for the callee, which is
 * repeated and ends with the answer, and machine detection of the callee's sound. The call gets neither.
 */
export interface EarlyMedia {
  /** The callee's early sound begins; the callee can hear us if `isHeard`. Called again for each other branch. */
  readonly start: (isHeard: boolean) => void
  /** The callee has answered. */
  readonly end: () => void
  /** Whether the event belongs to the early sound. */
  readonly owns: (event: MediaEvent) => boolean
}

/** The most repetitions that a sound allows, which is an hour and a half for a file of a minute. */
const loop = 100

/** Null when the dial asks for no early media. `command` hands a command to the media of the leg. */
export const make = (
  { audioUrl, commandId, detectsMachine = false, tenantId }: Dial,
  command: (tenantId: TenantId, media: MediaCommand) => void
): EarlyMedia | null => {
  if (audioUrl === undefined && !detectsMachine) return null
  const id = Id.WorkId.make(Id.deriveOpaque(commandId, "early sound"))
  let isListening = false
  let sound: "silent" | "heard" | "over" = "silent"
  return {
    start: (isHeard) => {
      if (sound === "over") return
      if (detectsMachine && !isListening) {
        isListening = true
        command(tenantId, { type: "listen_early" })
      }
      if (audioUrl === undefined || !isHeard || sound === "heard") return
      sound = "heard"
      command(tenantId, { type: "play", id, url: audioUrl, loop, target: "self" })
    },
    end: () => {
      if (sound === "heard") command(tenantId, { type: "stop_playback", which: "all" })
      sound = "over"
    },
    owns: (event) => "id" in event && event.id === id
  }
}
