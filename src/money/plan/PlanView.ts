import { Schema } from "effect"
import * as Field from "../../domain/schema/Field.ts"
import * as Wire from "../../domain/schema/Wire.ts"
import { names } from "./Included.ts"

const Included = Schema.Record(Schema.String, Schema.Int).annotate({
  description: `What it includes each month, by fields of usage: ${names.join(", ")}.`,
  examples: [{ billed_minutes: 1_000 }]
})

export const Plan = Wire.struct({
  slug: Field.text("Its name in requests.", "starter"),
  name: Field.text("Its name for people.", "Starter"),
  description: Field.textOrNull("In words.", "For small teams"),
  isPublic: Field.flag("Whether it can be chosen.", true),
  monthlyFeeCents: Field.cents("Debited when it begins, and each month."),
  included: Included,
  limits: Wire.struct({
    concurrentCallLimit: Schema.NullOr(Schema.Int).annotate({ description: "Null: as it was.", examples: [20] }),
    maxConferenceParticipants: Schema.NullOr(Schema.Int).annotate({ description: "Null: as it was.", examples: [50] })
  }).pipe(Schema.annotateEncoded({ description: "Limits that it sets." })),
  createdAt: Field.time("When the operator made it.")
}).pipe(Schema.annotateEncoded({ identifier: "Plan" }))
export type PlanRow = typeof Plan.Type
export type PlanView = typeof Plan.Encoded
export const planView = Wire.encoder(Plan)

export const Subscription = Wire.struct({
  plan: Schema.NullOr(Plan).annotate({ description: "Null: none." }),
  status: Field.oneOf("`past_due`: the fee could not be paid, and is tried daily for 7 days.", [
    "none",
    "active",
    "past_due"
  ]),
  currentPeriodStart: Field.timeOrNull("When the period that is paid began."),
  currentPeriodEnd: Field.timeOrNull("When it ends, and the next fee is due."),
  nextPlanSlug: Field.textOrNull("The plan after that; null: none.", "starter"),
  used: Schema.Record(Schema.String, Schema.Int).annotate({
    description: "What was taken of what the period includes.",
    examples: [{ billed_minutes: 17 }]
  })
}).pipe(Schema.annotateEncoded({ identifier: "Subscription" }))
export type SubscriptionView = typeof Subscription.Encoded
export const subscriptionView = Wire.encoder(Subscription)
