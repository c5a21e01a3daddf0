/** One of the four transaction machines with its state, so that a table can hold all four kinds. */
import * as InviteClient from "./InviteClientTransaction.ts"
import * as InviteServer from "./InviteServerTransaction.ts"
import * as NonInviteClient from "./NonInviteClientTransaction.ts"
import * as NonInviteServer from "./NonInviteServerTransaction.ts"
import type * as Transaction from "./Transaction.ts"

export type AnyTransaction =
  | { readonly role: "inviteClient"; state: InviteClient.State }
  | { readonly role: "nonInviteClient"; state: NonInviteClient.State }
  | { readonly role: "inviteServer"; state: InviteServer.State }
  | { readonly role: "nonInviteServer"; state: NonInviteServer.State }

type Outputs = ReadonlyArray<Transaction.Output>

const keep = <State>(machine: { state: State }, step: Transaction.Step<State>): Outputs => {
  machine.state = step.state
  return step.outputs
}

export const stepInviteClient = (
  machine: Extract<AnyTransaction, { role: "inviteClient" }>,
  input: InviteClient.Input,
  now: number
): Outputs => keep(machine, InviteClient.step(machine.state, input, now))

/** `null` when the transaction is not a client. */
export const stepClient = (machine: AnyTransaction, input: NonInviteClient.Input, now: number): Outputs | null => {
  switch (machine.role) {
    case "inviteClient":
      return stepInviteClient(machine, input, now)
    case "nonInviteClient":
      return keep(machine, NonInviteClient.step(machine.state, input, now))
    case "inviteServer":
    case "nonInviteServer":
      return null
  }
}

/** `null` when the transaction is not a server. */
export const stepServer = (machine: AnyTransaction, input: NonInviteServer.Input, now: number): Outputs | null => {
  switch (machine.role) {
    case "inviteServer":
      return keep(machine, InviteServer.step(machine.state, input, now))
    case "nonInviteServer":
      return keep(machine, NonInviteServer.step(machine.state, input, now))
    case "inviteClient":
    case "nonInviteClient":
      return null
  }
}

/** Applies an input that every transaction understands. */
export const step = (
  machine: AnyTransaction,
  input: Transaction.Due | Transaction.TransportError,
  now: number
): Outputs => stepClient(machine, input, now) ?? stepServer(machine, input, now) ?? []
