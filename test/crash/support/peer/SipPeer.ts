import { createSocket } from "node:dgram"
import { once } from "node:events"
import { Result } from "effect"
import * as G711 from "../../../../src/protocol/audio/codec/G711.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import * as Responses from "../../../../src/protocol/sip/message/Responses.ts"
import {
  header,
  type SipMessage,
  type SipRequest,
  type SipResponse
} from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../../../src/protocol/sip/message/SipWriter.ts"

/** A call at the peer, by its Call-ID. */
export interface Dialog {
  readonly callId: string
  readonly invitedAt: number
  /** When our BYE was answered by 200; null: it was not, or we sent none. */
  byeTakenAt: number | null
  /** How it ended; null: it is still up, as a caller's line would be. */
  closed: "refused" | "cancelled" | "hung up by the service" | "hung up by the peer" | null
}

/** A call to it is answered at once, and may talk for ever. */
export const steadyNumber = "+12025560000"

/**
 * A trunk on 127.0.0.1 that decides by `random`: rings, answers, is busy or never answers, hangs up or waits for a BYE;
 * only `steadyNumber` always answers. An answered caller hears a tone, and a REFER is taken or refused. It repeats
 * every message that UDP requires it to repeat (RFC 3261 sections 13.3.1.4 and 17), so that it lives through the death
 * of the service.
 */
export interface SipPeer {
  readonly port: number
  readonly dialogs: ReadonlyMap<string, Dialog>
  /** Its own errors about a call, which may show that the call has ended; absent: it logs none. */
  readonly errors?: (callId: string) => Promise<ReadonlyArray<string>>
  readonly close: () => Promise<void>
}

/** A peer in this process, which tests also control. */
export interface OwnSipPeer extends SipPeer {
  readonly hangUp: (callId: string) => void
}

/** 20 ms of a tone as PCMU (RFC 3550 section 5.1). */
const packet = (nth: number): Uint8Array => {
  const bytes = new Uint8Array(12 + sound.length)
  bytes.set(sound, 12)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, 0x80)
  view.setUint16(2, nth & 0xffff)
  view.setUint32(4, (nth * sound.length) >>> 0)
  view.setUint32(8, 0x5eed)
  return bytes
}
const sound = G711.encode("PCMU", Tone.sine(400, -12, 20, 8000))

const t1 = 500
const t2 = 4000
/** 64 * T1: after this time no answer comes. */
const giveUpMs = 32_000

interface Line {
  readonly dialog: Dialog
  readonly invite: SipRequest
  /** The caller's port. */
  readonly from: number
  readonly tag: string
  /** The number of its last request. */
  cseq: number
  /** The RTP that it sends; null: none. */
  rtp: { readonly to: number; sequence: number } | null
  /** The answer to a repeated INVITE. */
  last: SipResponse
  /** Stops its plans: to ring, to hang up, and to repeat either of them. */
  calm: () => void
  /** Stops the repetition of the final answer; null: there is none yet. */
  acknowledged: (() => void) | null
}

export const start = async (random: () => number): Promise<OwnSipPeer> => {
  const socket = createSocket("udp4")
  // Its receive buffer outlasts a burst of INVITEs and BYEs while this process does something else.
  socket.bind(0, "127.0.0.1")
  await once(socket, "listening")
  socket.setRecvBufferSize(4_194_304)
  // The RTP goes to this socket and comes from it; received packets are ignored.
  const sink = createSocket("udp4").bind(0, "127.0.0.1")
  await once(sink, "listening")
  const { port } = socket.address()
  const contact = `<sip:127.0.0.1:${port}>`
  const body: Requests.Body = {
    type: "application/sdp",
    bytes: new TextEncoder().encode(
      [
        ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0"],
        [`m=audio ${sink.address().port} RTP/AVP 0 101`, "a=rtpmap:101 telephone-event/8000", ""]
      ]
        .flat()
        .join("\r\n")
    )
  }
  const lines = new Map<string, Line>()
  const talking = setInterval(() => {
    for (const { dialog, rtp } of lines.values()) {
      if (rtp === null || dialog.closed !== null) continue
      sink.send(packet(rtp.sequence++), rtp.to, "127.0.0.1", () => undefined)
    }
  }, 20)
  const dialogs = new Map<string, Dialog>()
  const timers = new Set<NodeJS.Timeout>()
  let closed = false

  const after = (ms: number, run: () => void): (() => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      run()
    }, ms)
    timers.add(timer)
    return () => {
      clearTimeout(timer)
      timers.delete(timer)
    }
  }

  const send = (message: SipMessage, to: number): void => {
    if (!closed) socket.send(SipWriter.write(message), to, "127.0.0.1", () => undefined)
  }

  /** Sends again and again, at doubling intervals, until the returned function is called. */
  const insist = (message: SipMessage, to: number, gaveUp: () => void): (() => void) => {
    const until = Date.now() + giveUpMs
    let stop = () => {}
    const again = (interval: number): void => {
      send(message, to)
      stop = Date.now() > until ? after(0, gaveUp) : after(interval, () => again(Math.min(2 * interval, t2)))
    }
    again(t1)
    return () => stop()
  }

  const close = (line: Line, how: NonNullable<Dialog["closed"]>): void => {
    line.calm()
    // A caller that hangs up has had our answer.
    if (how === "hung up by the service") line.acknowledged?.()
    line.dialog.closed ??= how
  }

  const conclude = (line: Line, status: number, to: number, options: Responses.Options, gaveUp: () => void): void => {
    line.calm()
    line.last = Responses.make(line.invite, status, { toTag: line.tag, ...options })
    line.acknowledged = insist(line.last, to, gaveUp)
  }

  /** A request within the dialog. */
  const request = (line: Line, method: string, more: Requests.Extras = {}): SipRequest =>
    Requests.make({
      method,
      uri: (header(line.invite, "Contact") ?? "").replace(/^.*<|>.*$/g, ""),
      sentBy: `127.0.0.1:${port}`,
      branch: `z9hG4bK${method}${line.tag}`,
      from: `${header(line.invite, "To")};tag=${line.tag}`,
      to: header(line.invite, "From") ?? "",
      callId: line.dialog.callId,
      cseq: ++line.cseq,
      ...more
    })

  const hangUp = (line: Line, to: number): void => {
    if (line.dialog.closed !== null) return
    line.calm()
    line.calm = insist(request(line, "BYE"), to, () => close(line, "hung up by the peer"))
  }

  /** Refuses it, or takes it and reports that it was connected (RFC 3515 section 2.4.5). */
  const refer = (line: Line, asked: SipRequest, to: number): void => {
    if (random() < 0.3) return send(Responses.make(asked, 603, { toTag: line.tag }), to)
    send(Responses.make(asked, 202, { toTag: line.tag, contact }), to)
    after(300, () =>
      send(
        request(line, "NOTIFY", {
          headers: [
            ["Event", "refer"],
            ["Subscription-State", "terminated;reason=noresource"],
            ["Contact", contact]
          ],
          body: { type: "message/sipfrag", bytes: new TextEncoder().encode("SIP/2.0 200 OK\r\n") }
        }),
        to
      )
    )
  }

  const ring = (invite: SipRequest, callId: string, to: number): void => {
    const dialog: Dialog = { callId, invitedAt: Date.now(), byeTakenAt: null, closed: null }
    const tag = `peer${dialogs.size}`
    const last = Responses.make(invite, 180, { toTag: tag, contact })
    const line: Line = { dialog, invite, from: to, tag, cseq: 0, rtp: null, last, calm: () => {}, acknowledged: null }
    lines.set(callId, line)
    dialogs.set(callId, dialog)
    const isSteady = invite.uri.startsWith(`sip:${steadyNumber}@`)
    const mood = isSteady ? 1 : random()
    const ringMs = isSteady ? 0 : 100 + random() * 900
    const talkMs = 500 + random() * 4000
    send(last, to)
    if (mood < 0.1) return
    line.calm = after(ringMs, () => {
      if (mood < 0.2) {
        dialog.closed = "refused"
        return conclude(line, 486, to, {}, () => {})
      }
      conclude(line, 200, to, { contact, body }, () => hangUp(line, to))
      const [, media] = /m=audio ([0-9]+)/u.exec(new TextDecoder().decode(invite.body)) ?? []
      line.rtp = media === undefined ? null : { to: Number(media), sequence: 0 }
      if (mood < 0.5) line.calm = after(talkMs, () => hangUp(line, to))
    })
  }

  const heard = (asked: SipRequest, to: number): void => {
    const callId = header(asked, "Call-ID") ?? ""
    const line = lines.get(callId)
    switch (asked.method) {
      case "INVITE":
        return line === undefined ? ring(asked, callId, to) : send(line.last, to)
      case "ACK":
        return line?.acknowledged?.()
      case "CANCEL":
        send(Responses.make(asked, line === undefined ? 481 : 200, { toTag: line?.tag ?? "none" }), to)
        if (line === undefined || line.acknowledged !== null) return
        close(line, "cancelled")
        return conclude(line, 487, to, {}, () => {})
      case "BYE":
        send(Responses.make(asked, line === undefined ? 481 : 200), to)
        return line === undefined ? undefined : close(line, "hung up by the service")
      case "REFER":
        return line === undefined ? send(Responses.make(asked, 481), to) : refer(line, asked, to)
      default:
        return send(Responses.make(asked, 200), to)
    }
  }

  const answered = (response: SipResponse): void => {
    const line = lines.get(header(response, "Call-ID") ?? "")
    if (line === undefined || response.status < 200 || !(header(response, "CSeq") ?? "").endsWith("BYE")) return
    if (response.status === 200 && line.dialog.closed === null) line.dialog.byeTakenAt = Date.now()
    close(line, "hung up by the peer")
  }

  socket.on("message", (bytes, from) => {
    const message = SipParser.parse(bytes)
    if (Result.isFailure(message)) return
    if (message.success.type === "request") heard(message.success, from.port)
    else answered(message.success)
  })

  return {
    port,
    dialogs,
    hangUp: (callId) => {
      const line = lines.get(callId)
      if (line !== undefined) hangUp(line, line.from)
    },
    close: async () => {
      closed = true
      clearInterval(talking)
      for (const timer of timers) clearTimeout(timer)
      socket.close()
      sink.close()
    }
  }
}
