import { Result } from "effect"
import type { Direction, Media, Rtpmap, Sdp } from "./Sdp.ts"
import * as SdpDirection from "./SdpDirection.ts"
import type { Endpoint } from "./SipMessage.ts"

/** What we say about our side of the session. */
export interface Local {
  /** IP literal where we receive. */
  readonly address: string
  /** RTP port; RTCP is one above. */
  readonly port: number
  /** The same for the whole dialog, decimal. */
  readonly sessionId: string
  /** One more for each description of the dialog that differs from the last, RFC 3264 section 8. */
  readonly sessionVersion: number
  /** What we want; an answer gives no more than its offer allows. */
  readonly direction: Direction
  /** Codecs that we may use, most wanted first. */
  readonly codecs: ReadonlyArray<Codec>
}

export type Codec = "PCMU" | "PCMA"

export const defaultCodecs: ReadonlyArray<Codec> = ["PCMU", "PCMA"]

/** Static assignments of RFC 3551 section 6. */
const staticPayloadType: Readonly<Record<Codec, number>> = { PCMU: 0, PCMA: 8 }

/** Our own payload type for RFC 4733 events 0 to 16, in every offer. */
export const telephoneEventPayloadType = 101
const events = "0-16"

export const ptimeMs = 20

/** A payload type for each direction: what goes out was named by the peer, what comes in by us (RFC 3264 section 5.1). */
export interface PayloadTypes {
  readonly send: number
  readonly receive: number
}

/** What an offer and its answer amount to. */
export interface Agreed {
  readonly codec: Codec
  readonly audio: PayloadTypes
  /** RFC 4733; `undefined`: the peer cannot receive them. */
  readonly telephoneEvent: PayloadTypes | undefined
  /** What we do: `sendonly` sends, `inactive` does neither. */
  readonly direction: Direction
  /** Where RTP is sent; `undefined` when the peer holds by `c=0.0.0.0`. */
  readonly remote: Endpoint | undefined
  readonly remoteRtcp: Endpoint | undefined
  /** Milliseconds of sound in a packet that the peer asked for, else 20. */
  readonly ptimeMs: number
}

/** No common codec, or nothing that can be used. As an answer to an offer: 488 Not Acceptable Here. */
export interface NotAcceptable {
  readonly status: 488
  readonly reason: string
}

const refuse = (reason: string): Result.Result<never, NotAcceptable> => Result.fail({ status: 488, reason })

/**
 * An offer of one audio stream, RFC 3264 section 5.
 *
 * `previous` is our last description in the same dialog: its streams keep their places, those that are not the audio
 * stream stay refused, and telephone events keep their payload type (section 8).
 */
export const offer = (local: Local, previous?: Sdp): Sdp => {
  const at = previous?.media.findIndex((media) => media.type === "audio" && media.port !== 0) ?? -1
  const before = previous?.media[at]
  const stream = audio(
    local,
    local.codecs.map((codec) => ({ codec, payloadType: staticPayloadType[codec] })),
    (before === undefined ? undefined : telephoneEventOf(before)) ?? telephoneEventPayloadType,
    local.direction
  )
  const others = previous?.media.map(refused) ?? []
  return { ...description(local), media: at === -1 ? [...others, stream] : others.with(at, stream) }
}

/**
 * The answer to an offer, RFC 3264 section 6, or why there is none.
 *
 * The first usable audio stream (RTP/AVP, a port, a codec of ours) is accepted with the offerer's first codec that we
 * have and its payload types; every other stream is refused with port 0.
 */
export const answer = (
  offered: Sdp,
  local: Local
): Result.Result<{ readonly answer: Sdp; readonly agreed: Agreed }, NotAcceptable> => {
  for (const [index, media] of offered.media.entries()) {
    const choice = usable(offered, media) ? firstCodec(media, local.codecs) : undefined
    if (choice === undefined) continue
    const { codec, payloadType } = choice
    const telephoneEvent = telephoneEventOf(media)
    const direction = SdpDirection.facing(peerDirection(offered, media), local.direction)
    const accepted = audio(local, [choice], telephoneEvent, direction)
    return Result.succeed({
      answer: {
        ...description(local),
        timing: offered.timing,
        media: offered.media.map((other, at) => (at === index ? accepted : refused(other)))
      },
      agreed: {
        codec,
        audio: { send: payloadType, receive: payloadType },
        telephoneEvent: telephoneEvent === undefined ? undefined : { send: telephoneEvent, receive: telephoneEvent },
        direction,
        ...peer(offered, media)
      }
    })
  }
  return refuse("no usable audio stream")
}

/** What follows from the answer to our offer, RFC 3264 section 7, or why the call cannot go on. */
export const accept = (offered: Sdp, answered: Sdp): Result.Result<Agreed, NotAcceptable> => {
  if (answered.media.length !== offered.media.length) return refuse("answer has other streams than the offer")
  const index = offered.media.findIndex((media) => media.type === "audio" && media.port !== 0)
  const ours = offered.media[index]
  const theirs = answered.media[index]
  if (ours === undefined || theirs === undefined || !usable(answered, theirs)) return refuse("audio refused")
  const mine = encodings(ours)
  const choice = firstCodec(
    theirs,
    mine.map(({ codec }) => codec)
  )
  if (choice === undefined) return refuse("no common codec")
  const receive = mine.find(({ codec }) => codec === choice.codec)?.payloadType ?? choice.payloadType
  const eventsIn = telephoneEventOf(ours)
  const eventsOut = telephoneEventOf(theirs)
  return Result.succeed({
    codec: choice.codec,
    audio: { send: choice.payloadType, receive },
    telephoneEvent:
      eventsIn === undefined || eventsOut === undefined ? undefined : { send: eventsOut, receive: eventsIn },
    direction: SdpDirection.facing(peerDirection(answered, theirs), ours.direction ?? offered.direction ?? "sendrecv"),
    ...peer(answered, theirs)
  })
}

const description = (local: Local): Omit<Sdp, "media"> => ({
  origin: {
    username: "-",
    sessionId: local.sessionId,
    sessionVersion: String(local.sessionVersion),
    address: local.address
  },
  name: "-",
  timing: { start: 0, stop: 0 },
  connection: local.address,
  direction: undefined
})

interface Encoding {
  readonly codec: Codec
  readonly payloadType: number
}

const audio = (
  local: Local,
  encodings: ReadonlyArray<Encoding>,
  telephoneEvent: number | undefined,
  direction: Direction
): Media => {
  const rtpmaps: Array<Rtpmap> = encodings.map(({ codec, payloadType }) => ({
    payloadType,
    encoding: codec,
    clockRate: 8000,
    channels: undefined
  }))
  if (telephoneEvent !== undefined)
    rtpmaps.push({ payloadType: telephoneEvent, encoding: "telephone-event", clockRate: 8000, channels: undefined })
  return {
    type: "audio",
    port: local.port,
    protocol: "RTP/AVP",
    formats: rtpmaps.map(({ payloadType }) => String(payloadType)),
    connection: undefined,
    direction,
    rtpmaps,
    fmtps: telephoneEvent === undefined ? [] : [{ payloadType: telephoneEvent, parameters: events }],
    ptimeMs,
    rtcp: undefined
  }
}

/** RFC 3264 section 6: port 0, the rest has no meaning but must parse. */
const refused = (media: Media): Media => ({
  ...media,
  port: 0,
  connection: undefined,
  direction: undefined,
  rtpmaps: [],
  fmtps: [],
  ptimeMs: undefined,
  rtcp: undefined
})

const addressOf = (sdp: Sdp, media: Media): string | undefined => media.connection ?? sdp.connection

const usable = (sdp: Sdp, media: Media): boolean =>
  media.type === "audio" && media.port !== 0 && media.protocol === "RTP/AVP" && addressOf(sdp, media) !== undefined

/** Name and clock rate of a payload type; without `a=rtpmap` the static one, RFC 3551. */
const encodingOf = (media: Media, format: string): Rtpmap | undefined => {
  if (!/^[0-9]{1,3}$/.test(format) || Number(format) > 127) return undefined
  const payloadType = Number(format)
  const mapped = media.rtpmaps.find((rtpmap) => rtpmap.payloadType === payloadType)
  if (mapped !== undefined) return mapped
  const encoding = payloadType === 0 ? "PCMU" : payloadType === 8 ? "PCMA" : undefined
  return encoding === undefined ? undefined : { payloadType, encoding, clockRate: 8000, channels: undefined }
}

const named = (media: Media): ReadonlyArray<Rtpmap> =>
  media.formats.flatMap((format) => encodingOf(media, format) ?? [])

/** The payload types of codecs that we know, in the order of the stream. */
const encodings = (media: Media): ReadonlyArray<Encoding> =>
  named(media).flatMap(({ channels, clockRate, encoding, payloadType }) => {
    const codec = encoding.toUpperCase()
    const fits = clockRate === 8000 && (channels ?? 1) === 1
    return fits && (codec === "PCMU" || codec === "PCMA") ? [{ codec, payloadType }] : []
  })

const firstCodec = (media: Media, ours: ReadonlyArray<Codec>): Encoding | undefined =>
  encodings(media).find(({ codec }) => ours.includes(codec))

const telephoneEventOf = (media: Media): number | undefined =>
  named(media).find(({ clockRate, encoding }) => encoding.toLowerCase() === "telephone-event" && clockRate === 8000)
    ?.payloadType

/** `c=0.0.0.0`, the hold of RFC 2543 (RFC 3264 section 8.4): the peer does not receive. */
const isHeld = (sdp: Sdp, media: Media): boolean => {
  const address = addressOf(sdp, media)
  return address === "0.0.0.0" || address === "::"
}

const peerDirection = (sdp: Sdp, media: Media): Direction => {
  const said = media.direction ?? sdp.direction ?? "sendrecv"
  return isHeld(sdp, media) ? SdpDirection.make(SdpDirection.sends(said), false) : said
}

const peer = (sdp: Sdp, media: Media): Pick<Agreed, "remote" | "remoteRtcp" | "ptimeMs"> => {
  const address = addressOf(sdp, media)
  const reachable = address !== undefined && !isHeld(sdp, media)
  return {
    remote: reachable ? { address, port: media.port } : undefined,
    // One above the last port there is nothing.
    remoteRtcp:
      !reachable || (media.rtcp === undefined && media.port === 65_535)
        ? undefined
        : { address: media.rtcp?.address ?? address, port: media.rtcp?.port ?? media.port + 1 },
    ptimeMs: media.ptimeMs === undefined || media.ptimeMs === 0 ? ptimeMs : media.ptimeMs
  }
}
