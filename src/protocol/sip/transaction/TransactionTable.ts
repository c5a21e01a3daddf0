/**
 * All live transactions of one user agent, whatever flows they use: matching (RFC 3261 sections 17.1.3, 17.2.3, 9.2,
 * 8.2.2.2), their machines, and one deadline for all of them.
 *
 * Mutable, but owns no socket and no clock. Its shell feeds datagrams and requests of the transaction user (TU) into
 * `step`, calls `advance` when `nextDeadline` is due, and carries out the outputs in order.
 *
 * Bound: `limit` transactions (10,000), of which one address opens no more than its fair share. Beyond it a request
 * gets 503 without state and a new client transaction fails with `full`; BYE and CANCEL, which end calls and so make
 * room, are admitted up to twice the limit.
 */
import { Result } from "effect"
import * as DeadlineHeap from "../../../domain/time/DeadlineHeap.ts"
import type { Input, Output, TransactionId } from "./TransactionInput.ts"
import * as AnyTransaction from "./AnyTransaction.ts"
import * as CallIds from "../message/header/CallIds.ts"
import * as FairShare from "../../../domain/fair/FairShare.ts"
import type { Flow } from "../Flow.ts"
import * as InviteClient from "./InviteClientTransaction.ts"
import * as InviteServer from "./InviteServerTransaction.ts"
import * as MessageKey from "../message/MessageKey.ts"
import * as NonInviteClient from "./NonInviteClientTransaction.ts"
import * as NonInviteServer from "./NonInviteServerTransaction.ts"
import * as Responses from "../message/Responses.ts"
import { header, type SipMessage, type SipRequest, type SipResponse } from "../message/SipMessage.ts"
import * as Timers from "./Timers.ts"
import * as Transaction from "./Transaction.ts"
import * as Via from "../message/header/Via.ts"

interface Entry extends DeadlineHeap.Node {
  readonly id: TransactionId
  readonly flow: Flow
  readonly machine: AnyTransaction.AnyTransaction
  readonly merged: string | null
  /** The address that opened it; null when we did. */
  readonly peer: string | null
  readonly callId: string
  /** The To tag of our last response; null when none had one. */
  toTag: string | null
}

export interface TransactionTable {
  readonly timers: (flow: Flow) => Timers.Timers
  readonly limit: number
  readonly retryAfterSecs: number
  readonly entries: Map<TransactionId, Entry>
  /** Requests outside dialogs in progress, by the key that their copies share. */
  readonly merged: Map<string, TransactionId>
  readonly heap: DeadlineHeap.DeadlineHeap<Entry>
  /** The shares of addresses in server transactions. */
  readonly shares: FairShare.FairShare
  /** The Call-IDs of all entries. */
  readonly callIds: CallIds.CallIds
}

export interface Options {
  /** The default is the timers of RFC 3261 for the transport of the flow. */
  readonly timers?: (flow: Flow) => Timers.Timers
  /** The most live transactions. Default 10,000. */
  readonly limit?: number
  /** Retry-After of a 503. Default 5. */
  readonly retryAfterSecs?: number
}

export const make = ({ timers = Timers.on, limit = 10_000, retryAfterSecs = 5 }: Options = {}): TransactionTable => ({
  timers,
  limit,
  retryAfterSecs,
  entries: new Map(),
  merged: new Map(),
  heap: DeadlineHeap.make(),
  shares: FairShare.make(),
  callIds: CallIds.make()
})

/** The number of live transactions. */
export const size = (table: TransactionTable): number => table.entries.size

/** The absolute millisecond of the next `advance`, or `null` when no timer runs. */
export const nextDeadline = (table: TransactionTable): number | null => DeadlineHeap.earliest(table.heap)?.at ?? null

/** The id that a request of ours gets. */
export const clientId = (request: SipRequest): TransactionId => MessageKey.client(request) ?? ""

/** The id that a request of theirs has, stamped or not. */
export const serverId = (request: SipRequest): TransactionId => MessageKey.server(request) ?? ""

type Outputs = ReadonlyArray<Output>

const dropped = (reason: Extract<Output, { type: "dropped" }>["reason"]): Outputs => [{ type: "dropped", reason }]

const capacity = (table: TransactionTable, method: string): number =>
  method === "BYE" || method === "CANCEL" ? 2 * table.limit : table.limit

const delivered = (table: TransactionTable, entry: Entry, message: SipMessage, from: Flow): Output => {
  if (message.type === "response") return { type: "response", id: entry.id, response: message, from }
  if (message.method === "ACK") return { type: "ack", request: message, from }
  if (message.method === "CANCEL") {
    const invite = MessageKey.server(message, "INVITE") ?? ""
    return { type: "cancel", id: entry.id, request: message, invite, toTag: table.entries.get(invite)?.toTag ?? null }
  }
  return { type: "request", id: entry.id, request: message, from }
}

/** Stores the new deadline of a machine and turns its outputs into those of the table. */
const settle = (
  table: TransactionTable,
  entry: Entry,
  outputs: ReadonlyArray<Transaction.Output>,
  from: Flow
): Outputs => {
  DeadlineHeap.set(table.heap, entry, Transaction.earliest<string>(entry.machine.state.deadlines)?.at ?? null)
  return outputs.map((output): Output => {
    switch (output.type) {
      case "send":
        return { type: "send", id: entry.id, to: entry.flow, message: output.message }
      case "deliver":
        return delivered(table, entry, output.message, from)
      case "failed":
        return { type: "failed", id: entry.id, reason: output.reason }
      case "terminated":
        table.entries.delete(entry.id)
        table.callIds.remove(entry.callId)
        if (entry.peer !== null) table.shares.giveBack(entry.peer)
        if (entry.merged !== null && table.merged.get(entry.merged) === entry.id) table.merged.delete(entry.merged)
        return { type: "ended", id: entry.id }
    }
  })
}

/** Copies the value into new memory, because a slice of a header keeps the text of its whole datagram. */
const callIdOf = (request: SipRequest): string => Buffer.from(header(request, "Call-ID") ?? "").toString()

const ours = (request: SipRequest) => ({ merged: null, peer: null, callId: callIdOf(request) })

const open = (
  table: TransactionTable,
  id: TransactionId,
  flow: Flow,
  machine: AnyTransaction.AnyTransaction,
  outputs: ReadonlyArray<Transaction.Output>,
  { callId, merged, peer }: Pick<Entry, "callId" | "merged" | "peer">
): Outputs => {
  const entry: Entry = { id, flow, machine, merged, peer, callId, toTag: null, at: 0, place: -1 }
  table.entries.set(id, entry)
  table.callIds.add(callId)
  if (peer !== null) table.shares.take(peer)
  if (merged !== null) table.merged.set(merged, id)
  return settle(table, entry, outputs, flow)
}

const openClient = (table: TransactionTable, request: SipRequest, to: Flow, now: number): Outputs => {
  const id = clientId(request)
  if (id === "") return dropped("malformed")
  if (table.entries.has(id)) return [{ type: "failed", id, reason: "duplicate" }]
  if (table.entries.size >= capacity(table, request.method)) return [{ type: "failed", id, reason: "full" }]
  if (request.method === "INVITE") {
    const { state, outputs } = InviteClient.start(request, now, table.timers(to))
    return open(table, id, to, { role: "inviteClient", state }, outputs, ours(request))
  }
  const { state, outputs } = NonInviteClient.start(request, now, table.timers(to))
  return open(table, id, to, { role: "nonInviteClient", state }, outputs, ours(request))
}

const openServer = (
  table: TransactionTable,
  id: TransactionId,
  request: SipRequest,
  flow: Flow,
  now: number
): Outputs => {
  const theirs = { merged: MessageKey.merged(request), peer: flow.remote.address, callId: callIdOf(request) }
  if (request.method === "INVITE") {
    const { state, outputs } = InviteServer.start(request, now, table.timers(flow))
    return open(table, id, flow, { role: "inviteServer", state }, outputs, theirs)
  }
  const { state, outputs } = NonInviteServer.start(request, now, table.timers(flow))
  return open(table, id, flow, { role: "nonInviteServer", state }, outputs, theirs)
}

const receiveRequest = (table: TransactionTable, request: SipRequest, from: Flow, now: number): Outputs => {
  const stamped = Via.stamped(request, from.remote)
  const id = serverId(stamped)
  const via = Via.top(stamped)
  if (id === "" || Result.isFailure(via)) return dropped("malformed")
  const flow = Via.responseFlow(via.success, from)
  const refuse = (response: SipResponse): Outputs => [{ type: "refuse", request: stamped, from, response, to: flow }]

  const entry = table.entries.get(id)
  if (entry !== undefined)
    return settle(
      table,
      entry,
      AnyTransaction.stepServer(entry.machine, { type: "request", request: stamped }, now) ?? [],
      from
    )
  if (request.method === "ACK") return [{ type: "ack", request: stamped, from }]
  if (request.method === "CANCEL") {
    const invite = MessageKey.server(stamped, "INVITE")
    if (invite === null || !table.entries.has(invite)) return refuse(Responses.stateless(stamped, 481))
  }
  const merged = MessageKey.merged(stamped)
  if (merged !== null && table.merged.has(merged)) return refuse(Responses.stateless(stamped, 482))
  if (!table.shares.allows(flow.remote.address, table.entries.size, capacity(table, request.method)))
    return refuse(Responses.stateless(stamped, 503, { headers: [["Retry-After", String(table.retryAfterSecs)]] }))
  return openServer(table, id, stamped, flow, now)
}

const receiveResponse = (table: TransactionTable, response: SipResponse, from: Flow, now: number): Outputs => {
  const id = MessageKey.client(response)
  if (id === null) return dropped("malformed")
  const entry = table.entries.get(id)
  if (entry === undefined) return dropped("stray")
  return settle(table, entry, AnyTransaction.stepClient(entry.machine, { type: "response", response }, now) ?? [], from)
}

/** Whether an INVITE from before a restart may be resumed. */
const resumable = (table: TransactionTable, id: TransactionId, request: SipRequest): boolean =>
  id !== "" && request.method === "INVITE" && !table.entries.has(id)

export const step = (table: TransactionTable, input: Input, now: number): Outputs => {
  switch (input.type) {
    case "received":
      return input.message.type === "request"
        ? receiveRequest(table, input.message, input.from, now)
        : receiveResponse(table, input.message, input.from, now)
    case "request":
      return openClient(table, input.request, input.to, now)
    case "respond": {
      const entry = table.entries.get(input.id)
      const outputs = entry === undefined ? null : AnyTransaction.stepServer(entry.machine, input, now)
      if (entry === undefined || outputs === null) return dropped("unknownTransaction")
      entry.toTag = MessageKey.toTag(input.response)
      return settle(table, entry, outputs, entry.flow)
    }
    case "cancelled": {
      const entry = table.entries.get(input.id)
      if (entry?.machine.role !== "inviteClient") return dropped("unknownTransaction")
      return settle(table, entry, AnyTransaction.stepInviteClient(entry.machine, input, now), entry.flow)
    }
    case "transportError": {
      const entry = table.entries.get(input.id)
      if (entry === undefined) return dropped("unknownTransaction")
      return settle(table, entry, AnyTransaction.step(entry.machine, input, now), entry.flow)
    }
    case "resumeClient": {
      const id = clientId(input.request)
      if (!resumable(table, id, input.request)) return [{ type: "failed", id, reason: "duplicate" }]
      const { state, outputs } = InviteClient.resume(input.request, now, table.timers(input.to))
      return open(table, id, input.to, { role: "inviteClient", state }, outputs, ours(input.request))
    }
    case "resumeServer": {
      const id = serverId(input.request)
      if (!resumable(table, id, input.request)) return [{ type: "failed", id, reason: "duplicate" }]
      openServer(table, id, input.request, input.from, now)
      return []
    }
  }
}

/** Fires every timer that is due, the earliest first. */
export const advance = (table: TransactionTable, now: number): Outputs => {
  const outputs: Array<Output> = []
  for (let next = DeadlineHeap.earliest(table.heap); next !== undefined && next.at <= now;) {
    for (const output of settle(table, next, AnyTransaction.step(next.machine, { type: "due" }, now), next.flow))
      outputs.push(output)
    next = DeadlineHeap.earliest(table.heap)
  }
  return outputs
}
