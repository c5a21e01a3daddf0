/**
 * Phones at one SIP peer, over a network that loses nothing: the number of each decides its reaction to a call.
 *
 * They implement RFC 3261 as far as that needs it: they repeat nothing, and take every message once.
 */
import { Result } from "effect"
import * as Dialog from "../../../src/protocol/sip/dialog/Dialog.ts"
import * as MessageKey from "../../../src/protocol/sip/message/MessageKey.ts"
import * as Requests from "../../../src/protocol/sip/message/Requests.ts"
import * as Responses from "../../../src/protocol/sip/message/Responses.ts"
import {
  header,
  type Endpoint,
  type SipMessage,
  type SipRequest,
  type SipResponse
} from "../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../../src/protocol/sip/message/SipWriter.ts"
import * as Rig from "./Rig.ts"

export const numbers = {
  answers: "+12025550100",
  busy: "+12025550101",
  silent: "+12025550102",
  rejects: "+12025550103",
  hangsUp: "+12025550106",
  early: "+12025550118",
  refusesReferral: "+12025550119"
}

const ringsAfterMs = 200
const finalAfterMs = 1000
const talksMs = 1000

interface Options {
  /** The address of the phones. */
  readonly at: Endpoint
  readonly send: (bytes: Uint8Array) => void
  readonly after: (ms: number, then: () => void) => void
}

/** A call that was offered to a phone. */
interface Taken {
  readonly invite: SipRequest
  readonly number: string | undefined
  dialog: Dialog.Dialog | null
  isFinal: boolean
  acknowledged: boolean
}

export const make = ({ after, at, send }: Options) => {
  const sentBy = `${at.address}:${at.port}`
  const contact = `<sip:phone@${sentBy}>`
  const localTag = "phone"
  const taken = new Map<string, Taken>()
  const placed = new Map<string, SipRequest>()
  let branches = 0

  const hop = (): Requests.Hop => ({ sentBy, branch: `z9hG4bKphone${++branches}` })
  const say = (message: SipMessage) => send(SipWriter.write(message))
  const callIdOf = (message: SipMessage) => header(message, "Call-ID") ?? ""

  const reply = (call: Taken, status: number, more: Responses.Options = {}): void => {
    if (call.isFinal) return
    call.isFinal = status >= 200
    say(Responses.make(call.invite, status, { toTag: localTag, contact, ...more }))
  }

  const answer = (call: Taken) => reply(call, 200, { body: Rig.sdpBody(30_000, "a=sendrecv", "0 101") })

  const ask = (call: Taken, method: string, extras: Requests.Extras = {}): void => {
    if (call.dialog === null) return
    const { dialog, request } = Dialog.request(Dialog.accepted(call.dialog), method, hop(), extras)
    call.dialog = dialog
    say(request)
  }

  /** Calls another phone in place of the caller, and reports the outcome. */
  const refer = (call: Taken, request: SipRequest): void => {
    const refused = call.number === numbers.refusesReferral
    say(Responses.make(request, refused ? 603 : 202, { toTag: localTag, contact }))
    if (refused) return
    const notify = (state: string, line: string) =>
      ask(call, "NOTIFY", {
        headers: [
          ["Event", "refer"],
          ["Subscription-State", state]
        ],
        body: { type: "message/sipfrag", bytes: new TextEncoder().encode(`SIP/2.0 ${line}\r\n`) }
      })
    const isBusy = header(request, "Refer-To")?.includes(numbers.busy)
    after(1, () => notify("active;expires=60", "100 Trying"))
    after(finalAfterMs, () => notify("terminated;reason=noresource", isBusy ? "486 Busy Here" : "200 OK"))
  }

  const ring = (invite: SipRequest): void => {
    const number = /^sip:([^@]*)@/.exec(invite.uri)?.[1]
    const dialog = Dialog.fromRequest(invite, { localTag, contact, cseq: 1 })
    const call: Taken = { invite, number, dialog, isFinal: false, acknowledged: false }
    taken.set(callIdOf(invite), call)
    if (number === numbers.early) {
      after(ringsAfterMs, () => reply(call, 183, { body: Rig.sdpBody(30_000, "a=sendrecv", "0 101") }))
      return after(3 * finalAfterMs, () => answer(call))
    }
    if (number !== numbers.busy) after(ringsAfterMs, () => reply(call, 180))
    switch (number) {
      case numbers.answers:
      case numbers.refusesReferral:
      case numbers.hangsUp:
        return after(finalAfterMs, () => answer(call))
      case numbers.busy:
        return after(ringsAfterMs, () => reply(call, 486))
      case numbers.rejects:
        return after(finalAfterMs, () => reply(call, 603))
    }
  }

  const requested = (request: SipRequest): void => {
    const call = taken.get(callIdOf(request))
    switch (request.method) {
      case "INVITE":
        return call === undefined ? ring(request) : undefined
      case "ACK": {
        if (call === undefined || call.acknowledged || call.number !== numbers.hangsUp) return
        call.acknowledged = true
        return after(talksMs, () => ask(call, "BYE"))
      }
      case "CANCEL":
        say(Responses.make(request, 200, { toTag: localTag }))
        return call === undefined ? undefined : reply(call, 487)
      case "REFER":
        return call === undefined ? undefined : refer(call, request)
      default:
        return say(Responses.make(request, 200, { toTag: localTag }))
    }
  }

  const responded = (response: SipResponse): void => {
    const invite = placed.get(callIdOf(response))
    if (invite === undefined || response.status < 200 || MessageKey.cseq(response)?.method !== "INVITE") return
    if (response.status >= 300) return say(Requests.ackFailure(invite, response))
    const dialog = Dialog.fromResponse(invite, response)
    if (dialog !== null) say(Dialog.acknowledge(dialog, invite, hop()).request)
  }

  return {
    /** A message for the phones. */
    receive: (bytes: Uint8Array): void => {
      const message = Result.getOrThrow(SipParser.parse(bytes))
      if (message.type === "request") requested(message)
      else responded(message)
    },
    /** A phone calls `to`, at this host. */
    call: ({ from, host, to }: { readonly from: string; readonly to: string; readonly host: string }): void => {
      const callId = `call-${++branches}`
      const invite = Requests.invite({
        ...hop(),
        uri: `sip:${to}@${host}`,
        from: `<sip:${from}@${sentBy}>;tag=caller`,
        to: `<sip:${to}@${host}>`,
        callId,
        cseq: 1,
        contact,
        body: Rig.sdpBody()
      })
      placed.set(callId, invite)
      say(invite)
    }
  }
}
