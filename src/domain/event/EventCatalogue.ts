/**
 * Names that a subscription may list, spec §6.4 with the additive ones; each family has its shapes in a file beside this.
 * A name whose feature is not built yet can be subscribed to already: nothing raises it.
 */
export const eventTypes = [
  "call.started",
  "call.ringing",
  "call.answered",
  "call.bridged",
  "call.ended",
  "call.dtmf",
  "call.gather_complete",
  "call.playback_ended",
  "call.amd_complete",
  "call.transcript_chunk",
  "recording.completed",
  "recording.failed",
  "stream.started",
  "stream.stopped",
  "stream.failed",
  "conference.started",
  "conference.ended",
  "conference.member_joined",
  "conference.member_left",
  "conference.member_muted",
  "conference.member_unmuted",
  "conference.member_speaking_started",
  "conference.member_speaking_ended",
  "number_order.completed",
  "number_order.failed"
] as const

export type EventType = (typeof eventTypes)[number]

export const isEventType = (name: string): name is EventType => (eventTypes as ReadonlyArray<string>).includes(name)
