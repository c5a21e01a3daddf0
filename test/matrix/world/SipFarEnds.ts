/** Far ends at one SIP trunk on loopback: user agents that a row, or their number, controls. */
import { createSocket, type Socket } from "node:dgram"
import { once } from "node:events"
import { Result } from "effect"
import * as G711 from "../../../src/protocol/audio/codec/G711.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as RtpPacket from "../../../src/protocol/rtp/RtpPacket.ts"
import * as TelephoneEvent from "../../../src/protocol/rtp/TelephoneEvent.ts"
import * as Dialog from "../../../src/protocol/sip/dialog/Dialog.ts"
import * as MessageKey from "../../../src/protocol/sip/message/MessageKey.ts"
import * as Requests from "../../../src/protocol/sip/message/Requests.ts"
import * as Responses from "../../../src/protocol/sip/message/Responses.ts"
import {
  header,
  type SipMessage,
  type SipRequest,
  type SipResponse
} from "../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../../src/protocol/sip/message/SipWriter.ts"
import { type Far, type FarEnds, keyHeader } from "./Far.ts"
import * as Tape from "./Tape.ts"

const host = "127.0.0.1"
const eventPayload = 101
const frameMs = 20

/** The behaviour of phones with a number of their own; any other waits for the row. */
interface Script {
  readonly rings?: boolean
  /** The status of the final answer; absent: none comes. */
  readonly status?: number
  readonly reason?: string
  /** The answer to a REFER; absent: 202, and then a report of 200. */
  readonly refer?: "refuses" | "is silent"
}

export const scripts: Readonly<Record<string, Script>> = {
  "+12025550100": { rings: true, status: 200 },
  "+12025550101": { status: 486, reason: 'Q.850;cause=17;text="User busy"' },
  "+12025550102": { rings: true },
  "+12025550103": { rings: true, status: 603 },
  "+12025550107": { status: 404 },
  "+12025550108": { status: 500 },
  "+12025550116": { rings: true, status: 200 },
  "+12025550119": { rings: true, status: 200, refer: "refuses" },
  "+12025550120": { rings: true, status: 200, refer: "is silent" },
  "+12025550130": { status: 480 }
}

/** The RTP socket of a far end, RFC 3550. */
const openRtp = async () => {
  const socket = createSocket("udp4").bind(0, host)
  await once(socket, "listening")
  const digits = Tape.make<string>((digit) => digit)
  const read = RtpPacket.reader()
  const events = TelephoneEvent.receiver()
  let remote: number | null = null
  let sequenceNumber = 1
  let timestamp = 8000
  const timers = new Set<NodeJS.Timeout>()
  socket.on("message", (bytes) => {
    const packet = read(bytes)
    if (typeof packet === "string" || packet.payloadType !== eventPayload) return
    const { marker, ssrc, timestamp: at } = packet
    const digit = events.receive(
      { ssrc, timestamp: at, marker, payload: RtpPacket.payloadOf(packet) },
      performance.now()
    )
    if (digit !== null) digits.push(digit)
  })
  const send = (payloadType: number, payload: Uint8Array, marker: boolean, at: number): void => {
    if (remote === null) return
    const bytes = new Uint8Array(RtpPacket.headerLength + payload.length)
    RtpPacket.writeHeader(bytes, { payloadType, marker, sequenceNumber, timestamp: at, ssrc: 7 })
    bytes.set(payload, RtpPacket.headerLength)
    sequenceNumber = (sequenceNumber + 1) & 0xffff
    socket.send(bytes, remote, host)
  }
  const silence = G711.encode("PCMU", new Int16Array(160))
  /** Sends frames one after the other, on time. */
  const play = (frames: ReadonlyArray<() => void>): Promise<void> =>
    new Promise((done) => {
      const from = performance.now()
      const next = (index: number): void => {
        const frame = frames[index]
        if (frame === undefined) return done()
        frame()
        const timer = setTimeout(
          () => {
            timers.delete(timer)
            next(index + 1)
          },
          Math.max(0, from + (index + 1) * frameMs - performance.now())
        )
        timers.add(timer)
      }
      next(0)
    })
  const sound = (samples: Int16Array): ReadonlyArray<() => void> =>
    Array.from({ length: Math.ceil(samples.length / 160) }, (_, index) => () => {
      const frame = G711.encode("PCMU", samples.subarray(160 * index, 160 * (index + 1)))
      send(0, frame, index === 0, timestamp)
      timestamp += 160
    })
  return {
    port: socket.address().port,
    digits,
    connect: (port: number) => {
      remote ??= port
      // The first packet shows the service our address.
      send(0, silence, true, timestamp)
      timestamp += 160
    },
    press: async (pressed: string): Promise<void> => {
      for (const digit of pressed) {
        const train = TelephoneEvent.train(digit, 60, 8000)
        await play(
          train.map(
            ({ marker, payload, timestampOffset }) =>
              () =>
                send(eventPayload, payload, marker, timestamp + timestampOffset)
          )
        )
        timestamp += 160 * (train.length + 2)
      }
    },
    say: async (ms: number): Promise<void> => {
      const frames = [...sound(Tone.sine(500, -6, ms, 8000)), ...sound(new Int16Array(8000))]
      void play(frames)
    },
    close: () => {
      for (const timer of timers) clearTimeout(timer)
      socket.close()
    }
  }
}
type Rtp = Awaited<ReturnType<typeof openRtp>>

interface Line {
  readonly rtp: Rtp
  readonly number: string
  readonly invite: SipRequest
  readonly isOurs: boolean
  dialog: Dialog.Dialog | null
  last: SipResponse | null
  isFinal: boolean
  readonly over: Tape.Tape<"gone">
}

export interface SipPeer extends FarEnds {
  readonly port: number
  /** Sets the SIP port of the service. */
  readonly serve: (port: number) => void
  /** The INVITEs that came, by the key in their header. */
  readonly invites: Tape.Tape<SipRequest>
  /** Final answers to the calls of far ends. */
  readonly finals: Tape.Tape<SipResponse>
  /** The REFERs that came. */
  readonly referrals: Tape.Tape<SipRequest>
  readonly close: () => void
}

const number = "+12025561000"
/** A number like that, which does not ring. */
export const silentNumber = "+12025561001"

export const start = async (): Promise<SipPeer> => {
  const socket: Socket = createSocket("udp4").bind(0, host)
  await once(socket, "listening")
  socket.setRecvBufferSize(4_194_304)
  const { port } = socket.address()
  const sentBy = `${host}:${port}`
  const contact = `<sip:far@${sentBy}>`
  const lines = new Map<string, Line>()
  const offered = Tape.make<{ readonly key: string; readonly far: Far }>(({ key }) => key)
  const invites = Tape.make<SipRequest>(({ uri }) => uri)
  const finals = Tape.make<SipResponse>(({ status }) => String(status))
  const referrals = Tape.make<SipRequest>((request) => header(request, "Refer-To") ?? "")
  let servicePort = 0
  let branches = 0
  let isClosed = false

  const say = (message: SipMessage): void => {
    if (!isClosed) socket.send(SipWriter.write(message), servicePort, host)
  }
  const hop = (): Requests.Hop => ({ sentBy, branch: `z9hG4bKfar${++branches}` })
  const body = ({ port: rtpPort }: Rtp) => ({
    type: "application/sdp",
    bytes: new TextEncoder().encode(
      [
        ["v=0", `o=- 1 1 IN IP4 ${host}`, "s=-", `c=IN IP4 ${host}`, "t=0 0"],
        [`m=audio ${rtpPort} RTP/AVP 0 ${eventPayload}`, `a=rtpmap:${eventPayload} telephone-event/8000`, ""]
      ]
        .flat()
        .join("\r\n")
    )
  })
  const listenTo = (line: Line, message: SipMessage): void => {
    const found = /m=audio ([0-9]+)/.exec(new TextDecoder().decode(message.body))?.[1]
    if (found !== undefined) line.rtp.connect(Number(found))
  }

  const reply = (line: Line, status: number, more: Responses.Options = {}): void => {
    if (line.isFinal) return
    line.isFinal = status >= 200
    line.last = Responses.make(line.invite, status, { toTag: "far", contact, ...more })
    say(line.last)
  }
  const ask = (line: Line, method: string, extras: Requests.Extras = {}): void => {
    if (line.dialog === null) return
    const { dialog, request } = Dialog.request(Dialog.accepted(line.dialog), method, hop(), extras)
    line.dialog = dialog
    say(request)
  }
  const gone = (line: Line): void => line.over.push("gone")

  const farOf = (line: Line): Far => ({
    answer: async () => {
      reply(line, 200, { body: body(line.rtp) })
      listenTo(line, line.invite)
    },
    refuse: async (cause) => reply(line, cause === "user_busy" ? 486 : 603),
    hangUp: async () => {
      if (line.isOurs && line.dialog === null) say(Requests.cancel(line.invite))
      else ask(line, "BYE", { headers: [["Reason", 'Q.850;cause=16;text="Normal call clearing"']] })
      gone(line)
    },
    press: (digits) => line.rtp.press(digits),
    say: (ms) => line.rtp.say(ms),
    heardDigits: (count) =>
      line.rtp.digits.until(`${count} digits`, (all) =>
        all.length >= count ? all.slice(0, count).join("") : undefined
      ),
    gone: async () => void (await line.over.next("the end of the far end's call", (state) => state === "gone"))
  })

  const lineOf = (callId: string, rtp: Rtp, invite: SipRequest, called: string, isOurs: boolean): Line => {
    const line: Line = {
      rtp,
      number: called,
      invite,
      isOurs,
      dialog: isOurs ? null : Dialog.fromRequest(invite, { localTag: "far", contact, cseq: 1 }),
      last: null,
      isFinal: false,
      over: Tape.make<"gone">((state) => state)
    }
    lines.set(callId, line)
    return line
  }

  const ring = async (invite: SipRequest, callId: string): Promise<void> => {
    const called = /^sip:([^@]*)@/.exec(invite.uri)?.[1] ?? ""
    const line = lineOf(callId, await openRtp(), invite, called, false)
    invites.push(invite)
    const script = scripts[called]
    if (script === undefined) {
      reply(line, called === silentNumber ? 100 : 180)
      return offered.push({ key: header(invite, keyHeader) ?? "", far: farOf(line) })
    }
    if (script.rings === true) reply(line, 180)
    if (script.status === 200) return farOf(line).answer()
    if (script.status !== undefined)
      reply(line, script.status, script.reason === undefined ? {} : { headers: [["Reason", script.reason]] })
  }

  const refer = (line: Line, request: SipRequest): void => {
    referrals.push(request)
    const does = scripts[line.number]?.refer
    const to = header(request, "Refer-To") ?? ""
    say(Responses.make(request, does === "refuses" ? 603 : 202, { toTag: "far", contact }))
    if (does !== undefined) return
    const status = Object.entries(scripts).find(([each]) => to.includes(each))?.[1].status ?? 200
    ask(line, "NOTIFY", {
      headers: [
        ["Event", "refer"],
        ["Subscription-State", "terminated;reason=noresource"]
      ],
      body: { type: "message/sipfrag", bytes: new TextEncoder().encode(`SIP/2.0 ${status} Final\r\n`) }
    })
  }

  const requested = (request: SipRequest): void => {
    const callId = header(request, "Call-ID") ?? ""
    const line = lines.get(callId)
    switch (request.method) {
      case "INVITE":
        if (line === undefined) return void ring(request, callId)
        // A repeated INVITE, or a new offer within the call.
        if (line.last !== null && MessageKey.cseq(request)?.sequence === MessageKey.cseq(line.invite)?.sequence)
          return say(line.last)
        return say(Responses.make(request, 200, { toTag: "far", contact, body: body(line.rtp) }))
      case "ACK":
        return
      case "CANCEL":
        say(Responses.make(request, line === undefined ? 481 : 200, { toTag: "far" }))
        if (line === undefined) return
        reply(line, 487)
        return gone(line)
      case "BYE":
        say(Responses.make(request, 200, { toTag: "far" }))
        return line === undefined ? undefined : gone(line)
      case "REFER":
        return line === undefined ? undefined : refer(line, request)
      default:
        return say(Responses.make(request, 200, { toTag: "far" }))
    }
  }

  const responded = (response: SipResponse): void => {
    const line = lines.get(header(response, "Call-ID") ?? "")
    if (line === undefined || response.status < 200 || MessageKey.cseq(response)?.method !== "INVITE") return
    finals.push(response)
    if (response.status >= 300) {
      say(Requests.ackFailure(line.invite, response))
      return gone(line)
    }
    line.dialog ??= Dialog.fromResponse(line.invite, response)
    if (line.dialog !== null) say(Dialog.acknowledge(line.dialog, line.invite, hop()).request)
    listenTo(line, response)
  }

  socket.on("message", (bytes) => {
    const message = SipParser.parse(bytes)
    if (Result.isFailure(message)) return
    if (message.success.type === "request") requested(message.success)
    else responded(message.success)
  })

  return {
    port,
    number,
    invites,
    finals,
    referrals,
    serve: (at) => {
      servicePort = at
    },
    offered: async (key) => (await offered.next(`an INVITE of ${key}`, (each) => each.key === key)).far,
    call: async (to, key) => {
      const callId = `call-${key}`
      const rtp = await openRtp()
      const uri = `sip:${to}@${host}:${servicePort}`
      const invite = Requests.invite({
        ...hop(),
        uri,
        from: `<sip:+4930123456@${sentBy}>;tag=caller`,
        to: `<${uri}>`,
        callId,
        cseq: 1,
        contact,
        headers: [[keyHeader, key]],
        body: body(rtp)
      })
      const line = lineOf(callId, rtp, invite, to, true)
      say(invite)
      return farOf(line)
    },
    close: () => {
      isClosed = true
      for (const { rtp } of lines.values()) rtp.close()
      socket.close()
    }
  }
}
