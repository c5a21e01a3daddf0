import { Clock, type Deferred, Effect, Queue } from "effect"
import type * as Id from "../../domain/Id.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import type { CarrierCommand, LegReport } from "../Carrier.ts"
import type { EarlyMedia } from "../EarlyMedia.ts"
import type { FarAct, PhoneScript } from "./PhoneScript.ts"
import * as SimulatedLeg from "./SimulatedLeg.ts"

/** How many messages may wait on one leg; the next one ends the leg with `error`. */
export const mailboxRoom = 256

export type Mail =
  | { readonly type: "input"; readonly input: SimulatedLeg.Input }
  | { readonly type: "command"; readonly command: CarrierCommand }
  | { readonly type: "report"; readonly report: LegReport }
  /** `done` completes when all mail before it is handled. */
  | { readonly type: "mark"; readonly done: Deferred.Deferred<void> }

/** A leg of this process: its state, and the mailbox of the one fiber that changes it and reports it. */
export interface SimulatedLine {
  readonly id: Id.LegId
  /** Null when another leg is at its other end. */
  readonly script: PhoneScript | null
  /** The number of the far party. */
  readonly number: string
  /** Null until an inbound leg is answered. */
  tenantId: Id.TenantId | null
  /** A leg that it will be bridged with. */
  readonly near: Id.LegId | null
  readonly mailbox: Queue.Queue<Mail>
  /** Monotonic milliseconds. */
  readonly since: number
  answeredAt: number | null
  leg: SimulatedLeg.SimulatedLeg
  /** Null while an inbound leg waits for admission. */
  callId: Id.CallId | null
  /** The leg at the other end; null when a phone is there. */
  peer: SimulatedLine | null
  /** Receives the acts of our side, for the leg at the other end or for a phone with a holder. */
  hears: ((act: FarAct) => void) | null
  early: EarlyMedia | null
  /** Commands that wait until there are media. */
  readonly waiting: Array<Extract<CarrierCommand, { readonly type: "media" }>>
  hasMedia: boolean
  overflowed: boolean
}

type Given = Pick<SimulatedLine, "id" | "script" | "number"> &
  Partial<Pick<SimulatedLine, "callId" | "near" | "tenantId">>

/** A leg that begins now. */
export const make = Effect.fnUntraced(function* (
  direction: SimulatedLeg.SimulatedLeg["direction"],
  given: Given
): Effect.fn.Return<SimulatedLine> {
  const mailbox = yield* Queue.dropping<Mail>(mailboxRoom)
  const leg = SimulatedLeg.make(direction, given.script, yield* Monotonic.now)
  const since = Monotonic.read(yield* Clock.Clock)
  const empty = {
    callId: null,
    tenantId: null,
    near: null,
    peer: null,
    hears: null,
    early: null,
    answeredAt: null,
    waiting: []
  }
  return { ...empty, ...given, mailbox, leg, since, hasMedia: false, overflowed: false }
})

export const post = (line: SimulatedLine, mail: Mail): void => {
  if (!Queue.offerUnsafe(line.mailbox, mail)) line.overflowed = true
}

export const report = (line: SimulatedLine, report: LegReport): void => post(line, { type: "report", report })

/** The far party of the line acts. */
export const farActs =
  (line: SimulatedLine) =>
  (act: FarAct): void =>
    post(line, { type: "input", input: { type: "far", act } })

/** Joins two lines: each is the far party of the other. */
export const join = (one: SimulatedLine, other: SimulatedLine): void => {
  one.peer = other
  one.hears = farActs(other)
  other.peer = one
  other.hears = farActs(one)
}
