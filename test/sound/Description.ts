import { Result } from "effect"
import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as Sdp from "../../src/protocol/sip/sdp/Sdp.ts"

/** Session descriptions of the phones (RFC 8866), with the one stream of a call. */
export interface Format {
  readonly codec: Codecs.CodecName
  readonly payloadType: number
}

export type Direction = "sendrecv" | "sendonly" | "recvonly" | "inactive"

interface Session {
  readonly port: number
  readonly formats: ReadonlyArray<Format>
  readonly direction: Direction
}

/** The payload type of telephone events, which are never measured. */
const eventType = 101

/** The formats of codecs, with their static payload types, or dynamic ones. */
export const formatsOf = (codecs: ReadonlyArray<Codecs.CodecName>): ReadonlyArray<Format> =>
  codecs.map((codec) => ({ codec, payloadType: Codecs.table[codec].payloadType ?? 110 + Codecs.names.indexOf(codec) }))

let versions = 0

export const write = ({ direction, formats, port }: Session): string =>
  [
    "v=0",
    `o=- 1 ${++versions} IN IP4 127.0.0.1`,
    "s=-",
    "c=IN IP4 127.0.0.1",
    "t=0 0",
    `m=audio ${port} RTP/AVP ${[...formats.map(({ payloadType }) => payloadType), 13, eventType].join(" ")}`,
    ...formats.map(({ codec, payloadType }) => {
      const { channels, clockRate, encoding } = Codecs.table[codec]
      return `a=rtpmap:${payloadType} ${encoding}/${clockRate}${channels === 1 ? "" : `/${channels}`}`
    }),
    `a=rtpmap:${eventType} telephone-event/8000`,
    `a=${direction}`,
    ""
  ].join("\r\n")

/** Returns the far end's stream; null: there is none. */
export const read = (bytes: Uint8Array): Session | null => {
  const sdp = Result.getOrNull(Sdp.parse(bytes))
  const media = sdp?.media[0]
  if (media === undefined) return null
  const formats = media.formats.flatMap((text): ReadonlyArray<Format> => {
    const payloadType = Number(text)
    const map = media.rtpmaps.find((each) => each.payloadType === payloadType)
    const codec =
      map === undefined ? Codecs.ofPayloadType(payloadType) : Codecs.named({ ...map, channels: map.channels ?? 1 })
    return codec === null ? [] : [{ codec, payloadType }]
  })
  return { port: media.port, formats, direction: media.direction ?? sdp?.direction ?? "sendrecv" }
}
