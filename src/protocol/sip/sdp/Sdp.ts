import { Result } from "effect"
import * as SdpTransform from "sdp-transform"
import * as IpAddress from "../../../domain/network/IpAddress.ts"

/** A session description, RFC 8866, as far as a telephone call uses it. `write` writes every field. */
export interface Sdp {
  readonly origin: Origin
  readonly name: string
  /** NTP seconds, `0` and `0` for a session without bounds; an answer repeats the times of its offer. */
  readonly timing: { readonly start: number; readonly stop: number }
  /** The address for every media description without its own. */
  readonly connection: string | null
  readonly direction: Direction | null
  readonly media: ReadonlyArray<Media>
}

interface Origin {
  readonly username: string
  /** Decimal, up to 64 bits. */
  readonly sessionId: string
  readonly sessionVersion: string
  readonly address: string
}

export type Direction = "sendrecv" | "sendonly" | "recvonly" | "inactive"

export interface Media {
  /** `audio`, `video`, or any other token. */
  readonly type: string
  /** 0 when refused or switched off. */
  readonly port: number
  readonly protocol: string
  /** RTP payload types as text, most wanted first. */
  readonly formats: ReadonlyArray<string>
  readonly connection: string | null
  readonly direction: Direction | null
  readonly rtpmaps: ReadonlyArray<Rtpmap>
  readonly fmtps: ReadonlyArray<{ readonly payloadType: number; readonly parameters: string }>
  /** Milliseconds of sound that this side wants to receive in a packet. */
  readonly ptimeMs: number | null
  /** Milliseconds of sound that a packet to this side may hold at most, RFC 8866 section 6.5. */
  readonly maxPtimeMs: number | null
  /** RFC 3605; without it RTCP uses the port after RTP. */
  readonly rtcp: { readonly port: number; readonly address: string | null } | null
}

export interface Rtpmap {
  readonly payloadType: number
  readonly encoding: string
  /** The rate in Hz. */
  readonly clockRate: number
  readonly channels: number | null
}

export const maxBytes = 16_384
const maxMedia = 32

const utf8 = new TextDecoder()

/**
 * Reads a description; fails with the fault. Never throws.
 *
 * Unknown lines and attributes are left out. It fails for a text that is too long or has no `o=`, for more than 32 `m=`
 * lines, for a malformed one (an answer must have as many), and for a port beyond 65,535.
 */
export const parse = (bytes: Uint8Array): Result.Result<Sdp, string> => {
  if (bytes.length > maxBytes) return Result.fail("SDP too long")
  // The library does not know `port/count` (RFC 8866 section 5.14); we use the first port only.
  const text = utf8.decode(bytes).replace(/^(m=\w+ \d+)\/\d+ /gm, "$1 ")
  return Result.flatMap(
    Result.try({ try: () => SdpTransform.parse(text), catch: () => "SDP not readable" }),
    (parsed) => read(parsed)
  )
}

/** The types of the library promise fields that an incomplete description does not hold. */
type Parsed = Partial<Omit<SdpTransform.SessionDescription, "media">> & {
  readonly media: ReadonlyArray<Partial<SdpTransform.MediaDescription>>
}

const read = (parsed: Parsed): Result.Result<Sdp, string> => {
  const { origin, timing } = parsed
  if (origin === undefined) return Result.fail("SDP without o=")
  if (parsed.media.length > maxMedia) return Result.fail("too many m= lines")
  const media: Array<Media> = []
  for (const each of parsed.media) {
    const one = readMedia(each)
    if (one === null) return Result.fail("malformed m= line")
    media.push(one)
  }
  return Result.succeed({
    origin: {
      username: text(origin.username),
      sessionId: text(origin.sessionId),
      sessionVersion: text(origin.sessionVersion),
      address: text(origin.address)
    },
    name: text(parsed.name ?? "-"),
    timing: { start: whole(timing?.start) ?? 0, stop: whole(timing?.stop) ?? 0 },
    connection: address(parsed.connection),
    direction: parsed.direction ?? null,
    media
  })
}

const readMedia = (media: Partial<SdpTransform.MediaDescription>): Media | null => {
  const port = whole(media.port)
  const formats = text(media.payloads ?? "")
    .split(" ")
    .filter((format) => format !== "")
  if (media.type === undefined || media.protocol === undefined || port === null || port > 65_535) return null
  if (text(media.type) === "" || text(media.protocol) === "" || formats.length === 0) return null
  const rtcpPort = whole(media.rtcp?.port)
  const rtcpAddress = media.rtcp?.address
  return {
    type: text(media.type),
    port,
    protocol: text(media.protocol),
    formats,
    connection: address(media.connection),
    direction: media.direction ?? null,
    rtpmaps: (media.rtp ?? []).flatMap(({ codec, encoding, payload, rate }) => {
      const clockRate = whole(rate)
      const payloadType = whole(payload)
      if (clockRate === null || payloadType === null) return []
      return [{ payloadType, encoding: text(codec), clockRate, channels: whole(encoding) }]
    }),
    fmtps: (media.fmtp ?? []).flatMap(({ config, payload }) => {
      const payloadType = whole(payload)
      return payloadType === null ? [] : [{ payloadType, parameters: text(config) }]
    }),
    ptimeMs: whole(media.ptime),
    maxPtimeMs: whole(media.maxptime),
    rtcp:
      rtcpPort === null || rtcpPort === 0 || rtcpPort > 65_535
        ? null
        : { port: rtcpPort, address: rtcpAddress === undefined ? null : spelled(text(rtcpAddress)) }
  }
}

/** The library turns any text that looks like a number into one, whatever its types promise. */
const text = (value: unknown): string => (typeof value === "string" ? value : String(value))

/** The library leaves a number that it cannot hold as text. */
const whole = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null

/** Drops the TTL of a multicast address and gives an IP literal in its canonical spelling. */
const address = (connection: { readonly ip: string } | undefined): string | null =>
  connection === undefined ? null : spelled(text(connection.ip).split("/", 1)[0] ?? "")

const spelled = (host: string): string => IpAddress.canonical(host) ?? host

/** Writes a description with CRLF line ends. No value can start a new line: line breaks in values become spaces. */
export const write = (sdp: Sdp): Uint8Array => {
  const { origin } = sdp
  const lines = [
    "v=0",
    `o=${origin.username} ${origin.sessionId} ${origin.sessionVersion} ${inAddress(origin.address)}`,
    `s=${sdp.name}`,
    ...(sdp.connection === null ? [] : [`c=${inAddress(sdp.connection)}`]),
    `t=${sdp.timing.start} ${sdp.timing.stop}`,
    ...(sdp.direction === null ? [] : [`a=${sdp.direction}`]),
    ...sdp.media.flatMap(mediaLines)
  ]
  return new TextEncoder().encode(lines.map((line) => `${line.replace(/[\r\n]+/g, " ")}\r\n`).join(""))
}

const mediaLines = (media: Media): ReadonlyArray<string> => {
  const lines = [`m=${media.type} ${media.port} ${media.protocol} ${media.formats.join(" ")}`]
  if (media.connection !== null) lines.push(`c=${inAddress(media.connection)}`)
  for (const { channels, clockRate, encoding, payloadType } of media.rtpmaps)
    lines.push(`a=rtpmap:${payloadType} ${encoding}/${clockRate}${channels === null ? "" : `/${channels}`}`)
  for (const { parameters, payloadType } of media.fmtps) lines.push(`a=fmtp:${payloadType} ${parameters}`)
  if (media.ptimeMs !== null) lines.push(`a=ptime:${media.ptimeMs}`)
  if (media.maxPtimeMs !== null) lines.push(`a=maxptime:${media.maxPtimeMs}`)
  if (media.direction !== null) lines.push(`a=${media.direction}`)
  if (media.rtcp !== null) {
    const { address, port } = media.rtcp
    lines.push(address === null ? `a=rtcp:${port}` : `a=rtcp:${port} ${inAddress(address)}`)
  }
  return lines
}

const inAddress = (address: string): string => `IN IP${IpAddress.family(address) === "ipv6" ? 6 : 4} ${address}`
