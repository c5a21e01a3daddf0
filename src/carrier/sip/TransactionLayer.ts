/**
 * The transactions of one user agent with their clock: takes bytes, writes bytes, keeps timers and notifies the
 * listeners.
 *
 * Everything runs in plain callbacks, one message at a time. A listener may make requests while it is called; they are
 * carried out after it returns. Messages that the entrance lets in come to a transaction.
 */
import * as DeadlineHeap from "../../domain/time/DeadlineHeap.ts"
import type { Flow } from "../../protocol/sip/Flow.ts"
import * as MessageKey from "../../protocol/sip/message/MessageKey.ts"
import type { SipMessage, SipRequest, SipResponse } from "../../protocol/sip/message/SipMessage.ts"
import * as SipWriter from "../../protocol/sip/message/SipWriter.ts"
import type * as TransactionInput from "../../protocol/sip/transaction/TransactionInput.ts"
import * as TransactionTable from "../../protocol/sip/transaction/TransactionTable.ts"
import * as Validate from "../../protocol/sip/message/Validate.ts"
import * as IngressPipeline from "./ingress/IngressPipeline.ts"
import type * as IngressFilter from "./ingress/IngressFilter.ts"
import type { Transports } from "./transport/Transports.ts"

export type TransactionId = TransactionInput.TransactionId

/** The transports below. */
type Wire = Pick<Transports["Service"], "send">

/** The clock of the transaction layer, with one alarm. */
export interface Alarm {
  /** The monotonic clock in milliseconds. */
  readonly now: () => number
  /** Requests a `TransactionLayer.wake` at this time; replaces the previous time. */
  readonly wakeAt: (at: number) => void
}

/** Receives the outcome of a request of ours. */
interface ClientListener {
  /** Provisional responses, the final one, and every 2xx to an INVITE. */
  readonly response: (response: SipResponse, from: Flow) => void
  /** No answer came in time, or the request could not be sent. Called at most once, never after a final response. */
  readonly failed: (reason: "timeout" | "transport" | "full" | "duplicate") => void
}

/** Receives the requests of peers. */
export interface ServerListener {
  readonly request: (id: TransactionId, request: SipRequest, from: Flow) => void
  /** `toTag` is the To tag of our earlier responses to the INVITE; null when none had one. */
  readonly cancel: (id: TransactionId, request: SipRequest, invite: TransactionId, toTag: string | null) => void
  /** The ACK of a 2xx. */
  readonly ack: (request: SipRequest, from: Flow) => void
  /** Whether the request belongs to a dialog of ours. */
  readonly hasDialog: (request: SipRequest) => boolean
  /** Whether a dialog of ours has this Call-ID. */
  readonly ownsCall: (callId: string) => boolean
  /** The peer acknowledged our 3xx to 6xx to this INVITE, or (`false`) did not within 64*T1. */
  readonly refused: (invite: TransactionId, acknowledged: boolean) => void
}

export interface Counters {
  received: number
  sent: number
  /** Messages of peers that are not SIP, faulty responses and ACKs, and strays. */
  dropped: number
  /** Faulty requests of peers that were answered without state. */
  rejected: number
  sendErrors: number
  /** Errors in our code that a message or a timer exposed. */
  faults: number
}

export interface TransactionLayer {
  readonly now: () => number
  readonly counters: Readonly<Counters>
  /** Takes bytes from the wire, which never make it throw. */
  readonly receive: (bytes: Uint8Array, from: Flow) => void
  /** Fires the timers that are due. */
  readonly wake: () => void
  /** Sends a request in a new transaction. */
  readonly request: (request: SipRequest, to: Flow, listener: ClientListener) => void
  /** Listens for the answers to an INVITE that an earlier process sent. */
  readonly resumeInvite: (invite: SipRequest, to: Flow, listener: ClientListener) => void
  /** Resumes an INVITE of a peer that an earlier process received. False when this process has it already. */
  readonly resumeServer: (invite: SipRequest, from: Flow) => boolean
  /** We sent a CANCEL for this INVITE of ours, so it ends within 64*T1. */
  readonly cancelled: (invite: SipRequest) => void
  readonly respond: (id: TransactionId, response: SipResponse) => void
  /** Sends an ACK to a 2xx, without a transaction. */
  readonly send: (message: SipMessage, to: Flow) => void
  /** Calls `act` once, `afterMs` from now, unless the returned function is called before. */
  readonly after: (afterMs: number, act: () => void) => () => void
  /** The number of live transactions. */
  readonly size: () => number
}

interface Appointment extends DeadlineHeap.Node {
  readonly act: () => void
}

export interface Options extends TransactionTable.Options {
  readonly wire: Wire
  readonly alarm: Alarm
  /** Called on every request; set once, before the first message. */
  readonly server: ServerListener
  readonly policy?: Validate.Policy
  readonly gate: IngressFilter.IngressFilter
  /** Called for each message of a stranger that was not let in, after it was answered or dropped. */
  readonly stranger: IngressPipeline.Options["stranger"]
  /** Called for each INVITE of a known peer that was refused before it came to a transaction. */
  readonly turnedAway?: IngressPipeline.Options["turnedAway"]
  /** Takes an error in our code. It was counted; only the step in which it happened is lost. */
  readonly fault: (error: unknown) => void
}

export const make = ({
  alarm,
  fault,
  gate,
  policy = Validate.defaultPolicy,
  server,
  stranger,
  turnedAway = () => undefined,
  wire,
  ...options
}: Options): TransactionLayer => {
  const table = TransactionTable.make(options)
  const clients = new Map<TransactionId, ClientListener>()
  const agenda = DeadlineHeap.make<Appointment>()
  const counters: Counters = {
    received: 0,
    sent: 0,
    dropped: 0,
    rejected: 0,
    sendErrors: 0,
    faults: 0
  }
  const work: Array<TransactionInput.Output> = []
  let working = false
  let armed: number | null = null

  const guarded = (act: () => void): void => {
    try {
      act()
    } catch (error) {
      counters.faults++
      fault(error)
    }
  }

  const putBytes = (bytes: Uint8Array, to: Flow, id: TransactionId | null): void => {
    counters.sent++
    wire.send(bytes, to, () => {
      counters.sendErrors++
      if (id !== null) step({ type: "transportError", id })
    })
  }

  const put = (message: SipMessage, to: Flow, id: TransactionId | null): void =>
    putBytes(SipWriter.write(message), to, id)

  /** Reports a request of a known peer that was answered without state. One within a dialog is no refused call. */
  const turnAway: IngressPipeline.Options["turnedAway"] = (request, from, answer) => {
    if (request.method === "INVITE" && MessageKey.toTag(request) === null) turnedAway(request, from, answer)
  }

  const carryOut = (output: TransactionInput.Output): void => {
    switch (output.type) {
      case "send":
        return put(output.message, output.to, output.id)
      case "refuse":
        put(output.response, output.to, null)
        return turnAway(output.request, output.from, output.response)
      case "request":
        return server.request(output.id, output.request, output.from)
      case "cancel":
        return server.cancel(output.id, output.request, output.invite, output.toTag)
      case "ack":
        return server.ack(output.request, output.from)
      case "response":
        return clients.get(output.id)?.response(output.response, output.from)
      case "failed": {
        const client = clients.get(output.id)
        clients.delete(output.id)
        if (client !== undefined) client.failed(output.reason)
        else if (output.reason === "timeout") server.refused(output.id, false)
        return
      }
      case "ended":
        clients.delete(output.id)
        return
      case "dropped":
        counters.dropped++
    }
  }

  const run = (outputs: ReadonlyArray<TransactionInput.Output>): void => {
    for (const output of outputs) work.push(output)
    if (working) return
    working = true
    for (let at = 0; at < work.length; at++) {
      const output = work[at]
      if (output !== undefined) guarded(() => carryOut(output))
    }
    work.length = 0
    working = false
    rearm()
  }

  const rearm = (): void => {
    const first = Math.min(
      TransactionTable.nextDeadline(table) ?? Infinity,
      DeadlineHeap.earliest(agenda)?.at ?? Infinity
    )
    // An early alarm does no harm, and most deadlines are cancelled before they are due, so a later deadline moves no
    // alarm.
    if (first === Infinity || (armed !== null && armed <= first)) return
    armed = first
    alarm.wakeAt(first)
  }

  const step = (input: TransactionInput.Input): void => run(TransactionTable.step(table, input, alarm.now()))

  /**
   * Whether the request names a secret of us and our peer: tags of a dialog, or the branch of a request in progress.
   */
  const isOurs = (request: SipRequest): boolean => {
    if (server.hasDialog(request) || table.entries.has(TransactionTable.serverId(request))) return true
    const cancelled = request.method === "CANCEL" ? MessageKey.server(request, "INVITE") : null
    return cancelled !== null && table.entries.has(cancelled)
  }

  const accept = (message: SipMessage, from: Flow): void => {
    step({ type: "received", message, from })
    if (message.type !== "request" || message.method !== "ACK") return
    // The table absorbs the ACK to a 3xx to 6xx. The state of the INVITE shows that the peer has our answer.
    const id = TransactionTable.serverId(message)
    if (table.entries.get(id)?.machine.state.phase === "confirmed") server.refused(id, true)
  }

  const entrance = IngressPipeline.make({
    gate,
    policy,
    isOurs,
    ownsCall: (callId) => table.callIds.has(callId) || server.ownsCall(callId),
    put: (bytes, to) => putBytes(bytes, to, null),
    accept,
    stranger,
    turnedAway: turnAway,
    faulty: (isAnswered) => void (isAnswered ? counters.rejected++ : counters.dropped++)
  })

  return {
    now: alarm.now,
    counters,
    size: () => TransactionTable.size(table),
    receive: (bytes, from) => {
      counters.received++
      guarded(() => entrance(bytes, from))
    },
    wake: () => {
      // No alarm is set until all due work is done.
      armed = -Infinity
      const now = alarm.now()
      guarded(() => run(TransactionTable.advance(table, now)))
      for (let next = DeadlineHeap.earliest(agenda); next !== undefined && next.at <= now;) {
        DeadlineHeap.remove(agenda, next)
        guarded(next.act)
        next = DeadlineHeap.earliest(agenda)
      }
      armed = null
      rearm()
    },
    request: (request, to, listener) => {
      const id = TransactionTable.clientId(request)
      if (clients.has(id)) return listener.failed("duplicate")
      clients.set(id, listener)
      step({ type: "request", request, to })
    },
    resumeInvite: (invite, to, listener) => {
      const id = TransactionTable.clientId(invite)
      if (clients.has(id)) return
      clients.set(id, listener)
      step({ type: "resumeClient", request: invite, to })
    },
    resumeServer: (invite, from) => {
      if (table.entries.has(TransactionTable.serverId(invite))) return false
      step({ type: "resumeServer", request: invite, from })
      return true
    },
    cancelled: (invite) => step({ type: "cancelled", id: TransactionTable.clientId(invite) }),
    respond: (id, response) => step({ type: "respond", id, response }),
    send: (message, to) => put(message, to, null),
    after: (afterMs, act) => {
      const appointment: Appointment = { at: alarm.now() + afterMs, place: -1, act }
      DeadlineHeap.set(agenda, appointment, appointment.at)
      rearm()
      return () => DeadlineHeap.remove(agenda, appointment)
    }
  }
}
