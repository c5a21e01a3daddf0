import type { WebSocket } from "ws"
import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as Ramp from "../../src/protocol/audio/Ramp.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import type { Voice } from "./Phone.ts"
import type { Sound } from "./Timeline.ts"
import * as World from "./World.ts"

interface Message {
  readonly event: string
  /** The time by `performance.timeOrigin + performance.now()`. */
  readonly atMs: number
  readonly media?: { readonly track: string; readonly timestamp: string; readonly payload: string }
  readonly mark?: { readonly name: string; readonly cleared?: boolean }
}

/**
 * A client's server of one stream, in the dialect of Telnyx: it keeps the messages it gets, and sends sound at the
 * test's request.
 */
export const make = (codec: Codecs.CodecName, rate: number) => {
  const coder = Codecs.at(codec, rate)
  if (coder === null) throw new Error(`${codec} has no ${rate} Hz`)
  const got: Array<Message> = []
  let socket: WebSocket | null = null
  const send = (message: object): void => socket?.send(JSON.stringify(message))
  const media = (track: string) =>
    got.flatMap(({ media }) => (media !== undefined && media.track === track ? [media] : []))
  const marks = () => got.flatMap(({ mark }) => (mark === undefined ? [] : [mark]))
  return {
    server: {
      type: "webSocket",
      connected: (connected) => {
        socket = connected
        connected.on("message", (data: Buffer) =>
          got.push({ ...JSON.parse(data.toString()), atMs: performance.timeOrigin + performance.now() })
        )
      }
    } satisfies World.Server,
    got,
    /** The sound of a track, message by message. */
    sound: (track: string): Sound => {
      const decoder = coder.decoder()
      const pieces = media(track).map(({ payload }) => {
        const out = new Int16Array(coder.sampleRate / 50)
        return out.subarray(0, decoder.decode(Buffer.from(payload, "base64"), out))
      })
      decoder.free()
      const samples = Int16Array.from(pieces.flatMap((piece) => [...piece]))
      return { rate: coder.sampleRate, samples, fromMs: 0 }
    },
    /** The timestamps of the messages of a track, in ms. */
    timestamps: (track: string): ReadonlyArray<number> => media(track).map(({ timestamp }) => Number(timestamp)),
    say: ({ dbfs, hz }: Voice, ms: number): void => {
      const encoder = coder.encoder(null)
      const samples = Tone.sine(hz, dbfs, ms, coder.sampleRate)
      // A server's sound is not smoothed by the service, so it begins and ends softly by itself.
      Ramp.fadeIn(samples, coder.sampleRate, 0, 0, samples.length)
      Ramp.fadeOut(samples, coder.sampleRate, samples.length, 0, samples.length)
      const frame = coder.sampleRate / 50
      for (let at = 0; at < samples.length; at += frame) {
        const payload = new Uint8Array(coder.frameOctets)
        const length = encoder.encode(samples.subarray(at, at + frame), payload, 0)
        send({ event: "media", media: { payload: Buffer.from(payload.subarray(0, length)).toString("base64") } })
      }
      encoder.free()
    },
    mark: (name: string): void => send({ event: "mark", mark: { name } }),
    clear: (): void => send({ event: "clear" }),
    close: (): void => socket?.close(),
    /** Waits for a mark to come back, and returns whether it was cleared. */
    marked: async (name: string): Promise<boolean> =>
      (await World.until(`the mark ${name}`, () => marks().find((mark) => mark.name === name))).cleared ?? false
  }
}
