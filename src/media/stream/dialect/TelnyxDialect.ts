import type { Complaint, StreamDialect } from "./StreamDialect.ts"

/** The messages of Telnyx's media streaming, with our ids. */

const complaints: Readonly<Record<Complaint, readonly [code: number, title: string, detail: string]>> = {
  malformed_frame: [100_003, "malformed_frame", "the message is no JSON object with an event that is known"],
  invalid_media: [100_004, "invalid_media", "the payload cannot be heard on this stream"],
  rate_limit_reached: [100_005, "rate_limit_reached", "more waits to be heard than may; the newest was dropped"]
}

const json = JSON.stringify

export const dialect: StreamDialect = {
  connected: () => json({ event: "connected", version: "1.0.0" }),
  start: ({ format, stream: { of, options, streamId } }, sequence, isAgain) =>
    json({
      event: "start",
      sequence_number: String(sequence),
      stream_id: streamId,
      start: {
        user_id: of.tenantId,
        call_control_id: of.callId,
        call_session_id: of.callId,
        call_leg_id: of.legId,
        from: of.from,
        to: of.to,
        tags: [],
        client_state: null,
        custom_parameters: Object.fromEntries(options.parameters.map(({ name, value }) => [name, value])),
        media_format: { encoding: format.encoding, sample_rate: format.sampleRate, channels: 1 },
        ...(isAgain ? { reconnected: true } : {})
      }
    }),
  // Written by hand, because it is sent 50 times a second, and none of its parts needs escaping.
  media: ({ stream }, { chunk, payload, timestampMs, track }, sequence) =>
    `{"event":"media","sequence_number":"${sequence}","stream_id":"${stream.streamId}","media":{"track":"${track}","chunk":"${chunk}","timestamp":"${timestampMs}","payload":"${payload}"}}`,
  dtmf: ({ stream }, digit, occurredAt, sequence) =>
    json({
      event: "dtmf",
      stream_id: stream.streamId,
      occurred_at: occurredAt,
      sequence_number: String(sequence),
      dtmf: { digit }
    }),
  mark: ({ stream }, name, isCleared, sequence) =>
    json({
      event: "mark",
      sequence_number: String(sequence),
      stream_id: stream.streamId,
      mark: isCleared ? { name, cleared: true } : { name }
    }),
  stop: ({ stream: { of, streamId } }, sequence) =>
    json({
      event: "stop",
      sequence_number: String(sequence),
      stream_id: streamId,
      stop: { user_id: of.tenantId, call_control_id: of.callId }
    }),
  error: ({ stream }, complaint, sequence) => {
    const [code, title, detail] = complaints[complaint]
    return json({
      event: "error",
      sequence_number: String(sequence),
      stream_id: stream.streamId,
      payload: { code, title, detail }
    })
  }
}
