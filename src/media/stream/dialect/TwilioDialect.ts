import type { Track } from "../../../ports/media/StreamMessages.ts"
import type { StreamDialect } from "./StreamDialect.ts"

/** The messages of Twilio's media streams, with our ids. It has none for errors. */

const tracks: Readonly<Record<Track, ReadonlyArray<string>>> = {
  inbound_track: ["inbound"],
  outbound_track: ["outbound"],
  both_tracks: ["inbound", "outbound"]
}

const json = JSON.stringify

export const dialect: StreamDialect = {
  connected: () => json({ event: "connected", protocol: "Call", version: "1.0.0" }),
  start: ({ format, stream: { of, options, streamId } }, sequence, isAgain) =>
    json({
      event: "start",
      sequenceNumber: String(sequence),
      start: {
        accountSid: of.tenantId,
        streamSid: streamId,
        callSid: of.callId,
        tracks: tracks[options.track],
        customParameters: Object.fromEntries(options.parameters.map(({ name, value }) => [name, value])),
        // The encoding is always PCMU.
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate: format.sampleRate, channels: 1 },
        ...(isAgain ? { reconnected: true } : {})
      },
      streamSid: streamId
    }),
  // Written by hand, because it is sent 50 times a second, and none of its parts needs escaping.
  media: ({ stream }, { chunk, payload, timestampMs, track }, sequence) =>
    `{"event":"media","sequenceNumber":"${sequence}","media":{"track":"${track}","chunk":"${chunk}","timestamp":"${timestampMs}","payload":"${payload}"},"streamSid":"${stream.streamId}"}`,
  dtmf: ({ stream }, digit, _, sequence) =>
    json({
      event: "dtmf",
      streamSid: stream.streamId,
      sequenceNumber: String(sequence),
      dtmf: { track: "inbound_track", digit }
    }),
  mark: ({ stream }, name, isCleared, sequence) =>
    json({
      event: "mark",
      sequenceNumber: String(sequence),
      streamSid: stream.streamId,
      mark: isCleared ? { name, cleared: true } : { name }
    }),
  stop: ({ stream: { of, streamId } }, sequence) =>
    json({
      event: "stop",
      sequenceNumber: String(sequence),
      streamSid: streamId,
      stop: { accountSid: of.tenantId, callSid: of.callId }
    }),
  error: null
}
