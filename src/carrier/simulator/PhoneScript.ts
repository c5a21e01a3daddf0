import type { PhoneScript as Voice } from "../../media/MediaPlane.ts"
import type { LegEnd } from "../Carrier.ts"

/**
 * An act of the far party of a simulated leg. A phone acts by its script, the party of a joined leg by its own
 * commands.
 */
export type FarAct =
  | { readonly type: "rings" }
  | { readonly type: "answers" }
  /** `end` is what our side of the leg reports. */
  | { readonly type: "ends"; readonly end: LegEnd }

export interface Step {
  readonly afterMs: number
  readonly act: FarAct
}

/** A simulated phone: its voice, and its acts in the order of their offsets. */
export interface PhoneScript {
  /** Counted from the dial, or from the call of a phone that calls us. They stop at the answer. */
  readonly alerting: ReadonlyArray<Step>
  /** Counted from the answer. */
  readonly talking: ReadonlyArray<Step>
  readonly voice: Voice
}

const at = (afterMs: number, act: FarAct): Step => ({ afterMs, act })

const rings = at(200, { type: "rings" })
const answers = at(1000, { type: "answers" })
const ends = (afterMs: number, cause: LegEnd["cause"], sipStatus: number | null, by: LegEnd["by"]): Step =>
  at(afterMs, { type: "ends", end: { cause, sipStatus, by } })

const answering = (voice: Voice, talking: ReadonlyArray<Step> = []): PhoneScript => ({
  alerting: [rings, answers],
  talking,
  voice
})
const refusing = (...alerting: ReadonlyArray<Step>): PhoneScript => ({
  alerting,
  talking: [],
  voice: { type: "silence" }
})

/**
 * The simulated phones, by number, guide/connections.md#simulated-phones. Nobody can order these numbers. When a phone
 * rings for ever, the call's own deadline ends the leg.
 */
const phones: ReadonlyMap<string, PhoneScript> = new Map([
  ["+12025550100", answering({ type: "echo" })],
  ["+12025550101", refusing(ends(300, "final_response", 486, "far"))],
  ["+12025550102", refusing(rings)],
  ["+12025550103", refusing(rings, ends(1000, "final_response", 603, "far"))],
  ["+12025550104", answering({ type: "voicemail" })],
  ["+12025550105", answering({ type: "press", digits: "1234#", afterMs: 2000, everyMs: 5000 })],
  ["+12025550106", answering({ type: "silence" }, [ends(5000, "hangup", null, "far")])],
  ["+12025550107", refusing(ends(100, "no_route", null, "network"))],
  ["+12025550108", refusing(ends(100, "error", null, "network"))]
])

/** The phone with this number; null: no phone has it, but a tenant may. */
export const ofNumber = (number: string): PhoneScript | null => phones.get(number) ?? null

/**
 * A phone that calls a tenant's number: echoes once it is answered, gives up after a minute of ringing, and hangs up a
 * minute after the answer.
 */
export const caller: PhoneScript = {
  alerting: [ends(60_000, "cancelled", 487, "far")],
  talking: [ends(60_000, "hangup", null, "far")],
  voice: { type: "echo" }
}
