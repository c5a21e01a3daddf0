import { createSocket } from "node:dgram"
import { once } from "node:events"
import { Result } from "effect"
import type { CodecName } from "../../src/protocol/audio/codec/Codecs.ts"
import * as RtpPacket from "../../src/protocol/rtp/RtpPacket.ts"
import * as Dialog from "../../src/protocol/sip/dialog/Dialog.ts"
import * as MessageKey from "../../src/protocol/sip/message/MessageKey.ts"
import * as Requests from "../../src/protocol/sip/message/Requests.ts"
import * as Responses from "../../src/protocol/sip/message/Responses.ts"
import {
  header,
  type SipMessage,
  type SipRequest,
  type SipResponse
} from "../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../src/protocol/sip/message/SipWriter.ts"
import * as Description from "./Description.ts"

export type FarEnd = Awaited<ReturnType<typeof open>>

/** A packet of RTP with any header fields. */
export const packet = (fields: Partial<RtpPacket.RtpHeader>, payload: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(RtpPacket.headerLength + payload.length)
  const plain = { marker: false, payloadType: 0, sequenceNumber: 0, timestamp: 0, ssrc: 7 }
  RtpPacket.writeHeader(bytes, { ...plain, ...fields })
  bytes.set(payload, RtpPacket.headerLength)
  return bytes
}

/**
 * A hostile far end: it answers every call at once, and in the last one the test writes each message and each packet.
 * It has an address of its own, so that limits for an address apply to it alone.
 */
export const open = async (servicePort: number, host: string) => {
  const sip = createSocket("udp4").bind(0, host)
  const rtp = createSocket("udp4").bind(0, host)
  await Promise.all([once(sip, "listening"), once(rtp, "listening")])
  // An error is ignored, because it may send to a closed port.
  sip.on("error", () => undefined)
  rtp.on("error", () => undefined)
  const { port } = sip.address()
  const formats = Description.formatsOf(["PCMU", "PCMA", "G722", "OPUS"])
  let dialog: Dialog.Dialog | null = null
  let isAcknowledging = true
  let mediaPort = 0
  let branches = 0
  const statuses = new Map<string, number>()

  const say = (message: SipMessage): void => sip.send(SipWriter.write(message), servicePort, "127.0.0.1")
  const hop = (): Requests.Hop => ({ sentBy: `${host}:${port}`, branch: `z9hG4bKhostile${port}x${++branches}` })
  const contact = `<sip:hostile@${host}:${port}>`

  const described = (text: string): Requests.Body => ({
    type: "application/sdp",
    bytes: new TextEncoder().encode(text)
  })
  const session = (
    codecs: ReadonlyArray<CodecName>,
    direction: Description.Direction = "sendrecv",
    at = rtp.address().port
  ): Requests.Body => {
    const offered = formats.filter(({ codec }) => codecs.includes(codec))
    return described(Description.write({ port: at, formats: offered, direction }).replaceAll("127.0.0.1", host))
  }

  const ask = (method: string, extras: Requests.Extras = {}): void => {
    if (dialog === null) return
    const built = Dialog.request(Dialog.accepted(dialog), method, hop(), extras)
    dialog = built.dialog
    say(built.request)
  }

  const hear = (body: Uint8Array): void => {
    mediaPort = Description.read(body)?.port ?? mediaPort
  }

  const requested = (request: SipRequest): void => {
    if (request.method === "ACK") return
    hear(request.body)
    if (request.method !== "INVITE") return say(Responses.make(request, 200, { toTag: "hostile" }))
    const isFirst = MessageKey.toTag(request) === null
    if (isFirst) dialog = Dialog.fromRequest(request, { localTag: `hostile${++branches}`, contact, cseq: 1 })
    const toTag = isFirst && dialog !== null ? { toTag: dialog.localTag } : {}
    say(Responses.make(request, 200, { ...toTag, contact, body: session(["PCMU"]) }))
  }

  const responded = (response: SipResponse): void => {
    hear(response.body)
    const cseq = MessageKey.cseq(response)
    const key = `${cseq?.method} ${response.status}`
    statuses.set(key, (statuses.get(key) ?? 0) + 1)
    const isFinal = cseq?.method === "INVITE" && response.status >= 200
    if (dialog === null || !isFinal || !isAcknowledging) return
    const same = ["From", "To", "Call-ID"].map((name) => [name, header(response, name) ?? ""] as const)
    const branch = /branch=([^;]*)/.exec(header(response, "Via") ?? "")?.[1] ?? ""
    const headers = [["Max-Forwards", "70"], ...same, ["CSeq", `${cseq.sequence} ACK`]] as const
    const ack = { type: "request", method: "ACK", uri: dialog.remoteTarget, headers, body: new Uint8Array(0) } as const
    say(Requests.by(ack, response.status < 300 ? hop() : { sentBy: `${host}:${port}`, branch }))
  }

  sip.on("message", (bytes: Uint8Array) => {
    const message = Result.getOrNull(SipParser.parse(bytes))
    if (message?.type === "request") requested(message)
    else if (message !== null) responded(message)
  })

  return {
    host,
    port,
    /** Sends a request within the dialog of its last call. */
    ask,
    /** Sends a re-INVITE. */
    invite: (...of: Parameters<typeof session>): void => ask("INVITE", { body: session(...of) }),
    /** Sends a re-INVITE with any text as an offer. */
    describe: (text: string): void => ask("INVITE", { body: described(text) }),
    /** Sets whether it sends an ACK for the answers to its re-INVITEs. */
    acknowledges: (does: boolean): void => {
      isAcknowledging = does
    },
    /** Sends any bytes to the port at which the service receives RTP, or RTCP, of its last call. */
    send: (bytes: Uint8Array, channel: "rtp" | "rtcp" = "rtp"): void =>
      rtp.send(bytes, mediaPort + (channel === "rtp" ? 0 : 1), "127.0.0.1"),
    /** Returns how often each request got each answer. */
    statuses: (): Readonly<Record<string, number>> => Object.fromEntries(statuses),
    close: (): void => {
      sip.close()
      rtp.close()
    }
  }
}
