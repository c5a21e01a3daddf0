import { createSocket, type Socket } from "node:dgram"
import { once } from "node:events"
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { Result } from "effect"
import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as ThreadPriority from "../../src/runtime/process/ThreadPriority.ts"
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
import * as Line from "./Line.ts"
import type { Act, Plan, Question, State } from "./Phone.ts"

/** The thread of the phones: SIP of one peer (RFC 3261 as far as loopback needs it), and an RTP line for each call. */

interface Call {
  readonly number: string
  readonly plan: Plan
  readonly line: Line.Line
  /** The INVITE that was received, or sent. */
  readonly invite: SipRequest
  /** Our last INVITE within the dialog, until its 200. */
  asked: SipRequest | null
  dialog: Dialog.Dialog | null
  /** The response of a called phone; repeated for each repetition of the INVITE. */
  response: SipResponse | null
  isUp: boolean
  isOver: boolean
}

const host = "127.0.0.1"
const roundMs = 2
const nowMs = () => performance.timeOrigin + performance.now()

const plans = new Map<string, Plan>()
/** The last call of each number, and all by their Call-ID. */
const ofNumber = new Map<string, Call>()
const calls = new Map<string, Call>()
let socket: Socket = createSocket("udp4")
let port = 0
let servicePort = 0
let branches = 0

const say = (message: SipMessage): void => socket.send(SipWriter.write(message), servicePort, host)
const hop = (): Requests.Hop => ({ sentBy: `${host}:${port}`, branch: `z9hG4bKphone${++branches}` })
const contact = (): string => `<sip:phone@${host}:${port}>`
const callIdOf = (message: SipMessage): string => header(message, "Call-ID") ?? ""
const body = (description: string): Requests.Body => ({
  type: "application/sdp",
  bytes: new TextEncoder().encode(description)
})

const ask = (call: Call, method: string, extras: Requests.Extras = {}): SipRequest | null => {
  if (call.dialog === null) return null
  const { dialog, request } = Dialog.request(Dialog.accepted(call.dialog), method, hop(), extras)
  call.dialog = dialog
  say(request)
  return request
}

const over = (call: Call): void => {
  call.isOver = true
  call.line.close()
}

const take = (call: Call): void => {
  call.isUp = true
  call.line.talk(call.plan.voice)
}

const ring = async (invite: SipRequest): Promise<void> => {
  const number = /^sip:([^@]*)@/.exec(invite.uri)?.[1] ?? ""
  const plan = plans.get(number)
  const offer = Description.read(invite.body)
  if (plan === undefined || offer === null) return say(Responses.make(invite, 404, { toTag: "phone" }))
  const dialog = Dialog.fromRequest(invite, { localTag: `phone${++branches}`, contact: contact(), cseq: 1 })
  const line = await Line.open(plan.codecs)
  const call: Call = { number, plan, line, invite, dialog, asked: null, response: null, isUp: false, isOver: false }
  calls.set(callIdOf(invite), call)
  ofNumber.set(number, call)
  const toTag = dialog?.localTag ?? ""
  call.response = Responses.make(invite, 180, { toTag, contact: contact() })
  say(call.response)
  setTimeout(() => {
    if (call.isOver) return
    const agreed = line.agree(offer)
    if (agreed.length === 0) return say(Responses.make(invite, 488, { toTag }))
    const answer = Description.write({ port: line.port, formats: agreed, direction: "sendrecv" })
    call.response = Responses.make(invite, 200, { toTag, contact: contact(), body: body(answer) })
    say(call.response)
    take(call)
  }, plan.ringMs)
}

/** Accepts a change of the session by the service as it is offered. */
const changed = (call: Call, request: SipRequest): void => {
  const offer = Description.read(request.body)
  const agreed = offer === null ? call.line.formats() : call.line.agree(offer)
  const answer = Description.write({ port: call.line.port, formats: agreed, direction: "sendrecv" })
  say(Responses.make(request, 200, { contact: contact(), body: body(answer) }))
}

const requested = (request: SipRequest): void => {
  const call = calls.get(callIdOf(request))
  switch (request.method) {
    case "INVITE":
      if (call === undefined) return void ring(request)
      if (MessageKey.toTag(request) !== null) return changed(call, request)
      return call.response === null ? undefined : say(call.response)
    case "ACK":
      return
    case "CANCEL":
      say(Responses.make(request, 200, { toTag: "phone" }))
      if (call === undefined || call.isUp) return
      over(call)
      return say(Responses.make(call.invite, 487, { toTag: call.dialog?.localTag ?? "" }))
    case "BYE":
      say(Responses.make(request, 200))
      return call === undefined ? undefined : over(call)
    default:
      return say(Responses.make(request, 200, { toTag: "phone" }))
  }
}

const responded = (response: SipResponse): void => {
  const call = calls.get(callIdOf(response))
  if (call === undefined || response.status < 200 || MessageKey.cseq(response)?.method !== "INVITE") return
  const invite = call.asked ?? call.invite
  if (response.status >= 300) {
    say(Requests.ackFailure(invite, response))
    return call.isUp ? undefined : over(call)
  }
  const repeated = call.dialog === null ? null : Dialog.acknowledged(call.dialog, response)
  if (repeated !== null) return say(repeated)
  const dialog = call.dialog ?? Dialog.fromResponse(invite, response)
  if (dialog === null) return
  const { dialog: acknowledged, request } = Dialog.acknowledge(dialog, invite, hop())
  call.dialog = acknowledged
  say(request)
  const answer = Description.read(response.body)
  if (answer !== null) call.line.agree(answer)
  if (!call.isUp) take(call)
}

const dial = async (from: string, to: string, plan: Plan): Promise<void> => {
  const line = await Line.open(plan.codecs)
  const invite = Requests.invite({
    ...hop(),
    uri: `sip:${to}@${host}:${servicePort}`,
    from: `<sip:${from}@${host}>;tag=phone${++branches}`,
    to: `<sip:${to}@${host}>`,
    callId: `call-${branches}@${port}`,
    cseq: 1,
    contact: contact(),
    body: body(Description.write({ port: line.port, formats: line.formats(), direction: "sendrecv" }))
  })
  const call: Call = {
    number: from,
    plan,
    line,
    invite,
    dialog: null,
    asked: null,
    response: null,
    isUp: false,
    isOver: false
  }
  calls.set(callIdOf(invite), call)
  ofNumber.set(from, call)
  say(invite)
}

const act = (call: Call, what: Act): void => {
  const { line } = call
  const invite = (formats: ReadonlyArray<Description.Format>, direction: Description.Direction): void => {
    const description = Description.write({ port: line.port, formats, direction })
    call.asked = ask(call, "INVITE", { body: body(description) })
  }
  switch (what.type) {
    case "hang_up":
      ask(call, "BYE")
      return over(call)
    case "hold":
      line.pause(what.held)
      return invite(line.formats(), what.held ? "sendonly" : "sendrecv")
    case "renegotiate":
      return invite(line.offering(what.codecs), "sendrecv")
    case "switch":
      return line.speak(what.codec)
    case "silent":
      return line.silent(what.ms, what.comfortNoise)
    case "lose":
      return line.lose(what.every)
    case "say":
      return line.talk(what.voice)
  }
}

const answerTo = async (question: Question): Promise<unknown> => {
  const call = "number" in question ? ofNumber.get(question.number) : undefined
  switch (question.type) {
    case "start": {
      servicePort = question.servicePort
      socket.bind(0, host)
      await once(socket, "listening")
      port = socket.address().port
      socket.on("message", (bytes: Uint8Array) => {
        const message = Result.getOrThrow(SipParser.parse(bytes))
        if (message.type === "request") requested(message)
        else responded(message)
      })
      const round = (): void => {
        for (const { line } of calls.values()) line.sendDue(nowMs())
        setTimeout(round, roundMs)
      }
      round()
      return port
    }
    case "expect":
      plans.set(question.number, question.plan)
      return null
    case "dial":
      await dial(question.from, question.to, question.plan)
      return null
    case "act":
      if (call === undefined) throw new Error(`${question.number} has no call`)
      act(call, question.act)
      return null
    case "state":
      return {
        isUp: call?.isUp ?? false,
        isOver: call?.isOver ?? false,
        lateMs: call?.line.lateMs() ?? 0
      } satisfies State
    case "heard":
      return call?.line.heard() ?? []
  }
}

ThreadPriority.raise({ platform: process.platform, setPriority })
// Loads the codecs before the first packet.
for (const name of Codecs.names) Codecs.table[name].encoder(null).free()
parentPort?.on("message", ({ id, question }: { readonly id: number; readonly question: Question }) => {
  void answerTo(question).then((answer) => parentPort?.postMessage({ id, answer }, []))
})
