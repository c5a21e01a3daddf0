import * as Id from "../domain/Id.ts"
import type { TenantId } from "../domain/Id.ts"
import type { MediaCommand, MediaEvent } from "../ports/media/MediaMessage.ts"
import type { CarrierCommand } from "./CarrierCommand.ts"

type Dial = Extract<CarrierCommand, { readonly type: "dial" }>

/**
 * What goes on between us and a callee before it answers, guide/sip.md#early-media: a sound that it hears, which is
 * repeated and ends with the answer, and the ear of machine detection for what it says. The call hears nothing of either.
 */
export interface EarlyMedia {
  /** Its sound comes, and it can hear us, if `isHeard`; again with another branch of it. */
  readonly begin: (isHeard: boolean) => void
  /** The callee has answered. */
  readonly end: () => void
  /** Whether this is an event of it. */
  readonly owns: (event: MediaEvent) => boolean
}

/** As often as a sound can be asked for: an hour and a half of a file of a minute. */
const loop = 100

/** Null: the dial asks for nothing of it. `command` hands a command to the media of the leg. */
export const make = (
  { audioUrl, commandId, detectsMachine = false, tenantId }: Dial,
  command: (tenantId: TenantId, media: MediaCommand) => void
): EarlyMedia | null => {
  if (audioUrl === undefined && !detectsMachine) return null
  const id = Id.WorkId.make(Id.deriveOpaque(commandId, "early sound"))
  let isListening = false
  let sound: "silent" | "heard" | "over" = "silent"
  return {
    begin: (isHeard) => {
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
