import { Schema } from "effect"
import * as Id from "../../../domain/Id.ts"
import type { Outcome, StepContext } from "../../../runtime/actor/Machine.ts"
import type { Body, Verb } from "../../verb/Verb.ts"
import type { ConferenceStepBuilder } from "../machine/ConferenceStepBuilder.ts"

/** When the API may use a verb of a conference. `open`: until it has ended. `begun`: only after its start. */
type When = "open" | "begun"

/** Facts from outside, which the journal keeps beside the action. */
export const facts = {
  /** The most participants that the tenant's plan allows, with `update`; null: the plan has no limit. */
  mostParticipants: Schema.NullOr(Schema.Int),
  /** With `join`: the call that comes in. Absent in an input that an earlier version stored. */
  joining: Schema.optionalKey(Schema.Struct({ legId: Id.LegId, customerReference: Schema.NullOr(Schema.String) })),
  /** With `record_start`: the price, and the minutes that the account reserved for each meter. */
  recording: Schema.optionalKey(
    Schema.Struct({ microUsdPerMinute: Schema.Number, reservedMinutes: Schema.Array(Schema.Int) })
  )
} as const

/** The parts of a step that its verb may use. */
interface Moment extends Schema.Struct.Type<typeof facts> {
  readonly builder: ConferenceStepBuilder
  readonly context: StepContext
}

/** A verb with its behaviour. */
export interface ConferenceVerb<S extends Body = Body> extends Verb<S, When> {
  act(moment: Moment, body: S["Type"]): ConferenceStepBuilder | Outcome<never, never>
}

export const verb = <const S extends Body>(row: ConferenceVerb<S>) => row
