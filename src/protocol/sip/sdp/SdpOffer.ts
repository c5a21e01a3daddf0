import { Result } from "effect"
import * as IpAddress from "../../../domain/network/IpAddress.ts"
import type { Direction, Media, Rtpmap, Sdp } from "./Sdp.ts"
import * as SdpDirection from "./SdpDirection.ts"
import * as SdpStream from "./SdpStream.ts"

/** Our side of the session. */
export interface Local {
  /** The IP literals at which we receive. */
  readonly addresses: IpAddress.Addresses
  /** The family of our offers; an answer has the family of its offer. */
  readonly family: IpAddress.Family
  /** The RTP port; RTCP uses the next one. */
  readonly port: number
  /** A decimal number, the same for the whole dialog. */
  readonly sessionId: string
  /** Rises by one for each description of the dialog that differs from the last, RFC 3264 section 8. */
  readonly sessionVersion: number
  /** The direction that we want; an answer gives no more than its offer allows. */
  readonly direction: Direction
  /** Codecs that we may use, most wanted first. */
  readonly codecs: ReadonlyArray<Codec>
  /**
   * Whose preference decides among the codecs of an offer that we support. The order of the offer is recommended unless
   * there is a reason (RFC 3264 section 6.1); an order that the operator gave is one.
   */
  readonly codecChoice: "ours" | "theirs"
}

/** A codec that we may use. */
export interface Codec extends SdpStream.Format {
  /** Assigned in RFC 3551 section 6; with `null` it gets a dynamic one. */
  readonly payloadType: number | null
  /** The codec's parameters in our descriptions. */
  readonly fmtp: string | null
}

/** Our own payload type for RFC 4733 events 0 to 16 at the first clock rate, in every offer. */
const telephoneEventPayloadType = 101
const events = "0-16"

/** A payload type for each direction: the peer named the outgoing one, we the incoming one (RFC 3264 section 5.1). */
interface PayloadTypes {
  readonly send: number
  readonly receive: number
}

/** The result of an offer and its answer. */
export interface Agreed extends SdpStream.Receiver {
  /** The codec under our name for it. */
  readonly codec: SdpStream.Format
  /** The peer's parameters of the codec; `null` when it gave none. */
  readonly fmtp: string | null
  readonly audio: PayloadTypes
  /**
   * RFC 4733; `null` when the peer cannot receive them. Durations count at `clockRate`, timestamps at the codec's rate.
   */
  readonly telephoneEvent: (PayloadTypes & { readonly clockRate: number }) | null
  /** Our direction: `sendonly` sends, `inactive` does neither. */
  readonly direction: Direction
}

/** There is no common codec, or nothing usable. It answers an offer with 488 Not Acceptable Here. */
interface NotAcceptable {
  readonly status: 488
  readonly reason: string
}

const refuse = (reason: string): Result.Result<never, NotAcceptable> => Result.fail({ status: 488, reason })

/**
 * An offer of one audio stream, RFC 3264 section 5.
 *
 * `previous` is our last description in the same dialog: its streams keep their places, streams other than the audio
 * stream stay refused, and payload types keep their meaning (section 8.3.2). A codec without an assigned number gets
 * one by its place among `codecs`, so that it has the same in every offer to a peer that does not renumber it.
 */
export const offer = (local: Local, previous?: Sdp): Sdp => {
  const at = previous?.media.findIndex((media) => media.type === "audio" && media.port !== 0) ?? -1
  const before = previous?.media[at]
  const formats = offered(local.codecs, before === undefined ? [] : before.rtpmaps)
  const stream = audio(local, before?.protocol ?? SdpStream.plainProfile, formats, local.direction)
  const others = previous?.media.map(refused) ?? []
  const address = previous?.connection ?? null
  const family = address === null ? local.family : IpAddress.family(address)
  return { ...description(local, family), media: at === -1 ? [...others, stream] : others.with(at, stream) }
}

/**
 * The answer to an offer, RFC 3264 section 6, or why there is none.
 *
 * The first usable audio stream (RTP/AVP or RTP/AVPF, a port, the address of one host of a family of ours, a codec of
 * ours) is accepted under its profile with one codec (`Local.codecChoice`) and its payload types; every other stream is
 * refused with port 0.
 */
export const answer = (
  offered: Sdp,
  local: Local
): Result.Result<{ readonly answer: Sdp; readonly agreed: Agreed }, NotAcceptable> => {
  for (const [index, media] of offered.media.entries()) {
    const family = familyOf(offered, media, local)
    const isOurs = SdpStream.usable(offered, media) && local.addresses[family] !== null
    const choice = isOurs ? chosen(SdpStream.mapped(media, statics(local.codecs)), local) : null
    if (choice === null) continue
    const { codec, payloadType } = choice
    const event = SdpStream.telephoneEventOf(media, codec.clockRate)
    const direction = SdpDirection.facing(SdpStream.directionOf(offered, media), local.direction)
    const accepted = audio(
      local,
      media.protocol,
      [choice, ...(event === null ? [] : [{ codec: eventsAt(event.clockRate), payloadType: event.payloadType }])],
      direction
    )
    return Result.succeed({
      answer: {
        ...description(local, family),
        timing: offered.timing,
        media: offered.media.map((other, at) => (at === index ? accepted : refused(other)))
      },
      agreed: {
        codec: formatOf(codec),
        fmtp: SdpStream.fmtpOf(media, payloadType),
        audio: { send: payloadType, receive: payloadType },
        telephoneEvent:
          event === null ? null : { send: event.payloadType, receive: event.payloadType, clockRate: event.clockRate },
        direction,
        ...SdpStream.receiver(offered, media)
      }
    })
  }
  return refuse(
    offered.media.some(SdpStream.isEncrypted) ? "SRTP is not supported, RTP/AVP is" : "no usable audio stream"
  )
}

/** Agrees by the answer to our offer, RFC 3264 section 7, or fails with the reason why the call cannot continue. */
export const accept = (offered: Sdp, answered: Sdp): Result.Result<Agreed, NotAcceptable> => {
  if (answered.media.length !== offered.media.length) return refuse("answer has other streams than the offer")
  const index = offered.media.findIndex((media) => media.type === "audio" && media.port !== 0)
  const ours = offered.media[index]
  const theirs = answered.media[index]
  if (ours === undefined || theirs === undefined || !SdpStream.usable(answered, theirs)) return refuse("audio refused")
  const mine = ours.rtpmaps.flatMap((rtpmap) =>
    SdpStream.isTelephoneEvent(rtpmap) ? [] : [SdpStream.withChannels(rtpmap)]
  )
  // A static number without `a=rtpmap` keeps the meaning that it had in our offer.
  const choice = SdpStream.first(SdpStream.mapped(theirs, ours.rtpmaps), mine)
  if (choice === null) return refuse("no common codec")
  const { codec, payloadType } = choice
  const eventsOut = SdpStream.telephoneEventOf(theirs, codec.clockRate)
  const eventsIn = eventsOut === null ? null : SdpStream.telephoneEventAt(ours, eventsOut.clockRate)
  return Result.succeed({
    codec: formatOf(codec),
    fmtp: SdpStream.fmtpOf(theirs, payloadType),
    audio: { send: payloadType, receive: codec.payloadType },
    telephoneEvent:
      eventsIn === null || eventsOut === null
        ? null
        : { send: eventsOut.payloadType, receive: eventsIn.payloadType, clockRate: eventsOut.clockRate },
    direction: SdpDirection.facing(
      SdpStream.directionOf(answered, theirs),
      ours.direction ?? offered.direction ?? "sendrecv"
    ),
    ...SdpStream.receiver(answered, theirs)
  })
}

const description = (local: Local, family: IpAddress.Family): Omit<Sdp, "media"> => {
  const address = local.addresses[family] ?? local.addresses.ipv4 ?? local.addresses.ipv6 ?? "0.0.0.0"
  return {
    origin: {
      username: "-",
      sessionId: local.sessionId,
      sessionVersion: String(local.sessionVersion),
      address
    },
    name: "-",
    timing: { start: 0, stop: 0 },
    connection: address,
    direction: null
  }
}

/** The family of the address at which the peer receives; ours when it holds by an empty address or gives none. */
const familyOf = (sdp: Sdp, media: Media, local: Local): IpAddress.Family => {
  const address = SdpStream.addressOf(sdp, media) ?? ""
  return SdpStream.isHeld(sdp, media) || IpAddress.canonical(address) === null
    ? local.family
    : IpAddress.family(address)
}

/** A payload type of a stream of ours. */
interface Described {
  readonly codec: Codec
  readonly payloadType: number
}

const eventsAt = (clockRate: number): Codec => ({
  encoding: SdpStream.telephoneEvent,
  clockRate,
  channels: 1,
  payloadType: null,
  fmtp: events
})

const rtpmapOf = ({ codec, payloadType }: Described): Rtpmap => ({
  payloadType,
  encoding: codec.encoding,
  clockRate: codec.clockRate,
  channels: codec.channels === 1 ? null : codec.channels
})

/**
 * Our codecs, and telephone events at each of their clock rates and at 8000 Hz. A codec keeps the number that `before`
 * gave it, and no other codec gets that number.
 */
const offered = (codecs: ReadonlyArray<Codec>, before: ReadonlyArray<Rtpmap>): ReadonlyArray<Described> => {
  const clockRates = [...new Set([...codecs.map(({ clockRate }) => clockRate), SdpStream.usualEventRate])]
  const taken = new Set(before.map(({ payloadType }) => payloadType))
  let next = SdpStream.firstDynamic
  const dynamic = (): number => {
    if (next === telephoneEventPayloadType) next++
    return next++
  }
  const wanted = [
    ...codecs.map((codec) => ({ codec, payloadType: codec.payloadType ?? dynamic() })),
    ...clockRates.map((clockRate, index) => ({
      codec: eventsAt(clockRate),
      payloadType: index === 0 ? telephoneEventPayloadType : dynamic()
    }))
  ]
  return wanted.map(({ codec, payloadType }) => {
    const known = before.find((rtpmap) => SdpStream.isSame(SdpStream.withChannels(rtpmap), codec))
    if (known !== undefined) return { codec, payloadType: known.payloadType }
    let free = payloadType
    while (taken.has(free)) free = dynamic()
    taken.add(free)
    return { codec, payloadType: free }
  })
}

const audio = (local: Local, protocol: string, formats: ReadonlyArray<Described>, direction: Direction): Media => ({
  type: "audio",
  port: local.port,
  protocol,
  formats: formats.map(({ payloadType }) => String(payloadType)),
  connection: null,
  direction,
  rtpmaps: formats.map(rtpmapOf),
  fmtps: formats.flatMap(({ codec, payloadType }) =>
    codec.fmtp === null ? [] : [{ payloadType, parameters: codec.fmtp }]
  ),
  ptimeMs: SdpStream.ptimeMs,
  maxPtimeMs: null,
  rtcp: null
})

/** RFC 3264 section 6: the port is 0; the rest means nothing but must parse. */
const refused = (media: Media): Media => ({
  ...media,
  port: 0,
  connection: null,
  direction: null,
  rtpmaps: [],
  fmtps: [],
  ptimeMs: null,
  maxPtimeMs: null,
  rtcp: null
})

const formatOf = ({ channels, clockRate, encoding }: SdpStream.Format): SdpStream.Format => ({
  encoding,
  clockRate,
  channels
})

/** The meaning of payload types without `a=rtpmap`, RFC 3551 section 6. */
const statics = (codecs: ReadonlyArray<Codec>): ReadonlyArray<Rtpmap> =>
  codecs.flatMap((codec) => (codec.payloadType === null ? [] : [rtpmapOf({ codec, payloadType: codec.payloadType })]))

/** Chooses the codec of an offer. */
const chosen = (theirs: ReadonlyArray<Rtpmap>, { codecChoice, codecs }: Local): Described | null => {
  if (codecChoice === "theirs") return SdpStream.first(theirs, codecs)
  for (const codec of codecs) {
    const choice = SdpStream.first(theirs, [codec])
    if (choice !== null) return choice
  }
  return null
}
