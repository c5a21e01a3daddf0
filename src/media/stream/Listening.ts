import type { FarEnd } from "../FarEnd.ts"
import type { Track } from "../mix/Tap.ts"
import type * as StreamMessages from "../../ports/media/StreamMessages.ts"
import type * as Taps from "../mix/Tap.ts"
import * as OutgoingTrack from "./playout/OutgoingTrack.ts"
import type { StreamFormat } from "./dialect/StreamFormat.ts"

const wanted: Readonly<Record<StreamMessages.Track, ReadonlyArray<Track>>> = {
  inbound_track: ["inbound"],
  outbound_track: ["outbound"],
  both_tracks: ["inbound", "outbound"]
}

export interface Listening {
  readonly tap: Taps.Tap
  /** Called once a round. */
  readonly tick: (now: number) => void
  readonly free: () => void
}

/**
 * The sound of a leg for its stream: a tap, and a track for each side that the stream wants. If the far end has
 * packets, its sound is taken from them as they arrive.
 */
export const make = (options: {
  readonly tracks: StreamMessages.Track
  readonly format: StreamFormat
  /** How late a packet may come; `OutgoingTrack`. */
  readonly jitterMs: number
  readonly far: FarEnd
  readonly now: number
  /** `payload` is base64. */
  readonly tell: (track: Track, positionMs: number, payload: string) => void
  /** Called after a packet led to messages. */
  readonly told: () => void
  readonly ended: (reason: Taps.TapEnd) => void
}): Listening => {
  const { far, format, now, tell } = options
  const tracks = new Map(
    wanted[options.tracks].map((track) => [
      track,
      OutgoingTrack.make(format, now, options.jitterMs, ({ payload, positionMs }) => {
        const { buffer, byteLength, byteOffset } = payload
        tell(track, positionMs, Buffer.from(buffer, byteOffset, byteLength).toString("base64"))
      })
    ])
  )
  const inbound = tracks.get("inbound")
  return {
    tap: {
      wants: (track) => tracks.has(track) && !(track === "inbound" && far.hasPackets),
      hear: (track, frame) => tracks.get(track)?.frame(frame),
      ...(inbound === undefined || !far.hasPackets
        ? {}
        : {
            arrived: (packet, codec, at) => {
              inbound.packet(packet, codec, at)
              options.told()
            }
          }),
      ended: options.ended
    },
    tick: (at) => {
      for (const track of tracks.values()) track.tick(at)
    },
    free: () => {
      for (const track of tracks.values()) track.free()
    }
  }
}
