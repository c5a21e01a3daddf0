/** Reads one stream of a session description, ours or the peer's. */
import type { Endpoint } from "../message/SipMessage.ts"
import type { Direction, Media, Rtpmap, Sdp } from "./Sdp.ts"
import * as SdpAddress from "./SdpAddress.ts"
import * as SdpDirection from "./SdpDirection.ts"

/** Two codecs are the same when name (in any case), clock rate and channels are equal, RFC 3264 section 6.1. */
export interface Format {
  readonly encoding: string
  readonly clockRate: number
  readonly channels: number
}

export const telephoneEvent = "telephone-event"
/** The clock rate of the telephone events that nearly every peer supports, whatever the codec. */
export const usualEventRate = 8000
/** The first dynamic payload type, RFC 3551 section 6; the last is 127. */
export const firstDynamic = 96

/** Milliseconds of sound in a packet when the description gives none. */
export const ptimeMs = 20
/** Shorter packets are mostly headers, and longer ones delay the sound too much. */
const shortestPtimeMs = 10
const longestPtimeMs = 60

/** Where, and in how large packets, a stream is received. */
export interface Receiver {
  /** The destination of RTP; `null` while the peer holds by `c=0.0.0.0`. */
  readonly remote: Endpoint | null
  readonly remoteRtcp: Endpoint | null
  /** Milliseconds of sound in a packet that the peer asked for, at least 10 and at most 60; 20 if it asked for none. */
  readonly ptimeMs: number
}

/** The profile of our offers, RFC 3551. */
export const plainProfile = "RTP/AVP"

/**
 * Profiles of RTP without encryption. With that of RFC 4585 an endpoint may send feedback by RTCP early, but only what
 * `a=rtcp-fb` lines agree on: we describe none, so both sound and report in the same way.
 */
const plainProfiles: ReadonlyArray<string> = [plainProfile, "RTP/AVPF"]

/** SRTP by RFC 3711, RFC 5124 or RFC 5764. */
export const isEncrypted = ({ protocol, type }: Media): boolean => type === "audio" && /\/SAVPF?$/.test(protocol)

export const addressOf = (sdp: Sdp, media: Media): string | null => media.connection ?? sdp.connection

export const usable = (sdp: Sdp, media: Media): boolean =>
  media.type === "audio" &&
  media.port !== 0 &&
  plainProfiles.includes(media.protocol) &&
  SdpAddress.kindOf(addressOf(sdp, media) ?? "") !== "refused"

export const withChannels = (rtpmap: Rtpmap) => ({ ...rtpmap, channels: rtpmap.channels ?? 1 })

export const isSame = (one: Format, other: Format): boolean =>
  one.encoding.toUpperCase() === other.encoding.toUpperCase() &&
  one.clockRate === other.clockRate &&
  one.channels === other.channels

export const isTelephoneEvent = ({ encoding }: Rtpmap): boolean => encoding.toLowerCase() === telephoneEvent

/** The meaning of the payload types of a stream, in its order; `known` explains those without `a=rtpmap`. */
export const mapped = (media: Media, known: ReadonlyArray<Rtpmap>): ReadonlyArray<Rtpmap> =>
  media.formats.flatMap((format) => {
    if (!/^[0-9]{1,3}$/.test(format) || Number(format) > 127) return []
    const payloadType = Number(format)
    const isIt = (rtpmap: Rtpmap) => rtpmap.payloadType === payloadType
    const rtpmap = media.rtpmaps.find(isIt) ?? (payloadType < firstDynamic ? known.find(isIt) : undefined)
    return rtpmap ?? []
  })

/** The first payload type of a stream that is a codec of ours. */
export const first = <C extends Format>(
  theirs: ReadonlyArray<Rtpmap>,
  ours: ReadonlyArray<C>
): { readonly codec: C; readonly payloadType: number } | null => {
  for (const rtpmap of theirs) {
    const codec = ours.find((mine) => isSame(mine, withChannels(rtpmap)))
    if (codec !== undefined) return { codec, payloadType: rtpmap.payloadType }
  }
  return null
}

export const fmtpOf = (media: Media, payloadType: number): string | null =>
  media.fmtps.find((fmtp) => fmtp.payloadType === payloadType)?.parameters ?? null

export const telephoneEventAt = (media: Media, clockRate: number): Rtpmap | null =>
  mapped(media, []).find((rtpmap) => isTelephoneEvent(rtpmap) && rtpmap.clockRate === clockRate) ?? null

/**
 * The telephone events of a stream at the clock rate of its sound, which they should have (RFC 4733 section 2.1), else
 * those at 8000 Hz, because many peers have no others, whatever the codec.
 */
export const telephoneEventOf = (media: Media, clockRate: number): Rtpmap | null =>
  telephoneEventAt(media, clockRate) ?? telephoneEventAt(media, usualEventRate)

/** `c=0.0.0.0`, the hold of RFC 2543 (RFC 3264 section 8.4): the peer does not receive. */
export const isHeld = (sdp: Sdp, media: Media): boolean => SdpAddress.kindOf(addressOf(sdp, media) ?? "") === "held"

export const directionOf = (sdp: Sdp, media: Media): Direction => {
  const said = media.direction ?? sdp.direction ?? "sendrecv"
  return isHeld(sdp, media) ? SdpDirection.make(SdpDirection.sends(said), false) : said
}

/** Where its RTP and RTCP are received, and how much sound a packet should hold. */
export const receiver = (sdp: Sdp, media: Media): Receiver => {
  const address = addressOf(sdp, media)
  const reachable = address !== null && !isHeld(sdp, media)
  const ofRtcp = media.rtcp?.address ?? null
  return {
    remote: reachable ? { address, port: media.port } : null,
    // RTP on the last port leaves no port for RTCP.
    remoteRtcp:
      !reachable || (media.rtcp === null && media.port === 65_535)
        ? null
        : {
            address: ofRtcp !== null && SdpAddress.kindOf(ofRtcp) === "unicast" ? ofRtcp : address,
            port: media.rtcp?.port ?? media.port + 1
          },
    ptimeMs: packetMs(media)
  }
}

/** The length of a packet to the side that gave this description, by its `a=ptime` and `a=maxptime`; 0 is none. */
const packetMs = ({ maxPtimeMs, ptimeMs: wanted }: Media): number => {
  const asked = wanted === null || wanted === 0 ? ptimeMs : wanted
  const most = maxPtimeMs === null || maxPtimeMs === 0 ? longestPtimeMs : Math.min(maxPtimeMs, longestPtimeMs)
  return Math.max(shortestPtimeMs, Math.min(asked, most))
}
