import { Effect } from "effect"
import type { CarrierCommand } from "../Carrier.ts"
import type { FarAct } from "./PhoneScript.ts"
import type * as PhoneScript from "./PhoneScript.ts"
import * as SimulatedLine from "./SimulatedLine.ts"
import * as SimulatedReferral from "./SimulatedReferral.ts"

interface Options {
  readonly phones: PhoneScript.Phones
  readonly fork: (effect: Effect.Effect<void>) => void
  readonly isLive: (line: SimulatedLine.SimulatedLine) => boolean
  /** Calls a tenant from the phone with this number; `hears` receives the acts of our side. */
  readonly callTenant: (from: string, to: string, hears: (act: FarAct) => void) => Effect.Effect<void>
}

/** REFERs to simulated phones: each phone calls as requested or not, and reports (`PhoneScript.referred`). */
export const make = ({ callTenant, fork, isLive, phones }: Options) => {
  const calls = (
    line: SimulatedLine.SimulatedLine,
    to: string,
    told: (referred: SimulatedReferral.Referred) => void
  ): Effect.Effect<void> => {
    const phone = phones.called(to)
    if (phone === null)
      return callTenant(line.number, to, (act) => {
        if (act.type === "answers") told(SimulatedReferral.completed)
        else if (act.type === "ends") told(SimulatedReferral.ofEnd(act.end))
      })
    const { afterMs, referred } = SimulatedReferral.ofPhone(phone)
    return Effect.sync(() => fork(Effect.map(Effect.sleep(afterMs), () => told(referred))))
  }

  /** Each REFER is accepted or refused, and has one end. */
  return (
    line: SimulatedLine.SimulatedLine,
    { commandId, to }: Extract<CarrierCommand, { readonly type: "refer" }>
  ): Effect.Effect<void> =>
    Effect.suspend(() => {
      const number = SimulatedReferral.numberIn(to)
      let isOver = false
      const told = (referred: SimulatedReferral.Referred): void => {
        if (isOver) return
        isOver = referred.status !== "accepted"
        if (isLive(line)) SimulatedLine.report(line, { type: "referred", commandId, ...referred })
      }
      if (number === null)
        return Effect.sync(() =>
          SimulatedLine.report(line, { type: "command_failed", commandId, reason: "invalid_address" })
        )
      // The other end of a joined leg is this service, which accepts no REFER.
      if (line.script === null) return Effect.sync(() => told(SimulatedReferral.failed(405)))
      if (line.script.referred === "refuses") return Effect.sync(() => told(SimulatedReferral.failed(603)))
      told(SimulatedReferral.accepted)
      fork(Effect.map(Effect.sleep(SimulatedReferral.patienceMs), () => told(SimulatedReferral.silent)))
      return line.script.referred === "calls" ? calls(line, number, told) : Effect.void
    })
}
