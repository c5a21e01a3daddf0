import * as Id from "../domain/Id.ts"
import type { TenantId } from "../domain/Id.ts"
import type { MediaCommand, MediaEvent } from "../media/message/MediaMessage.ts"
import type { CarrierCommand } from "./CarrierCommand.ts"

type Dial = Extract<CarrierCommand, { readonly type: "dial" }>

/**
 * The sound that a callee hears before it answers, guide/sip.md#early-media. It begins when the callee can hear us, is
 * repeated, and ends with the answer; the call hears nothing of it.
 */
export interface EarlySound {
  /** The callee can hear us; again with another branch of it. */
  readonly begin: () => void
  /** The callee has answered. */
  readonly end: () => void
  /** Whether this is an event of it. */
  readonly owns: (event: MediaEvent) => boolean
}

/** As often as a sound can be asked for: an hour and a half of a file of a minute. */
const loop = 100

/** Null: the dial asks for none. `command` hands a command to the media of the leg. */
export const make = (
  { audioUrl, commandId, tenantId }: Dial,
  command: (tenantId: TenantId, media: MediaCommand) => void
): EarlySound | null => {
  if (audioUrl === undefined) return null
  const id = Id.WorkId.make(Id.deriveOpaque(commandId, "early sound"))
  let state: "silent" | "heard" | "over" = "silent"
  return {
    begin: () => {
      if (state !== "silent") return
      state = "heard"
      command(tenantId, { type: "play", id, url: audioUrl, loop, target: "self" })
    },
    end: () => {
      if (state === "heard") command(tenantId, { type: "stop_playback", which: "all" })
      state = "over"
    },
    owns: (event) => "id" in event && event.id === id
  }
}
