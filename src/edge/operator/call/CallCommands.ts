import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { InboundSimulator } from "../../../carrier/InboundSimulator.ts"
import * as CallEvent from "../../../domain/event/CallEvent.ts"
import { Calls, CallStatus, CallTimeline } from "../../../telephony/call/Call.ts"
import { E164, KeptE164 } from "../../../domain/E164.ts"
import * as Id from "../../../domain/Id.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import { Journal } from "../../../runtime/store/journal/Journal.ts"
import { Retention } from "../../../runtime/retention/Retention.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as TenantReference from "../tenant/TenantReference.ts"
import * as CallerSpeech from "./CallerSpeech.ts"
import * as CallTimelineText from "./CallTimelineText.ts"
import * as EndedCalls from "./EndedCalls.ts"

/**
 * The most events, and the most deliveries, that are read for one call. Events beyond the limit show as differences.
 */
const rowLimit = 10_000

const eventsOf = Effect.fnUntraced(function* (callId: Id.CallId) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.orDie(sql<CallTimeline.StoredEvent>`
    SELECT id, sequence, type, occurred_at, body
    FROM event WHERE entity_id = ${callId} ORDER BY sequence LIMIT ${rowLimit}`)
})

const deliveriesOf = Effect.fnUntraced(function* (callId: Id.CallId) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.orDie(sql<CallTimeline.Delivery>`
    SELECT d.event_id, d.id AS delivery_id, d.destination AS endpoint, d.attempt_no, d.status, d.response_status_code,
      d.error_message, d.sent_at, d.next_retry_at
    FROM event e JOIN webhook_delivery d ON d.event_id = e.id
    WHERE e.entity_id = ${callId} ORDER BY d.ordinal LIMIT ${rowLimit}`)
})

/** Finds out what retention may have deleted of a call, so that a deleted row is not shown as a difference. */
const goneOf = Effect.fnUntraced(function* (callId: Id.CallId, settled: boolean) {
  const sql = yield* SqlClient.SqlClient
  const retention = yield* Retention
  const [row] = yield* Effect.orDie(sql<{ readonly at: number }>`
    SELECT updated_at AS at FROM entity WHERE id = ${callId}`)
  const journalUntil = yield* retention.prunedUntil("journal")
  return {
    journal: settled && row !== undefined && journalUntil !== null && row.at < journalUntil,
    eventsBefore: yield* retention.prunedUntil("event")
  }
})

export const commands = [
  Command.make(
    "simulate-inbound",
    {
      summary: "a simulated phone calls a number of a tenant",
      input: {
        from: Flag.of(E164, "the simulated phone", { value: "+E164" }),
        to: Flag.of(KeptE164, "the number that it calls", { value: "+E164" }),
        say: Flag.optional(Flag.text(500), "what it says a second after the answer", { value: "TEXT" }),
        press: Flag.optional(
          Schema.String.check(Schema.isPattern(/^[0-9A-D*#wW]{1,64}$/)),
          "keys that it presses after that; w waits half a second, W a second",
          { value: "KEYS" }
        ),
        hangupAfter: Flag.optional(Flag.between(0, 3_600), "how long after the answer it hangs up; 60 unless given", {
          flag: "hangup-after",
          value: "SECONDS"
        })
      },
      run: Effect.fnUntraced(function* ({ from, hangupAfter, press = "", say, to }) {
        const speech = say === undefined ? null : yield* CallerSpeech.make(say)
        const acts = { speech, digits: press, hangUpAfterMs: hangupAfter === undefined ? null : hangupAfter * 1000 }
        const isPlain = speech === null && press === "" && hangupAfter === undefined
        const admission = yield* (yield* InboundSimulator).simulateInbound(isPlain ? { from, to } : { from, to, acts })
        return admission.admitted
          ? { admitted: true, call_id: admission.callId }
          : { admitted: false, cause: admission.cause }
      })
    },
    { isSound: ({ admitted }) => admitted }
  ),
  Command.make(
    "call show",
    {
      summary: "the call's inputs, states, events and deliveries as a timeline, replayed from its journal",
      input: { callId: Flag.argument("id", Id.spelled("call"), "the call") },
      local: { states: Flag.on("shows the whole state after each input too") },
      run: Effect.fn("CallCommands.show")(function* ({ callId }) {
        const journal = yield* Journal
        const entity = yield* journal.find(callId)
        if (entity === null || entity.kind !== "call") return yield* ApiError.of("not_found", `no call ${callId}`)
        return CallTimeline.make(
          entity,
          yield* journal.inputs(callId),
          yield* eventsOf(callId),
          yield* deliveriesOf(callId),
          yield* goneOf(callId, entity.settled)
        )
      })
    },
    {
      print: (timeline, { states = false }) => CallTimelineText.render(timeline, { states }),
      isSound: ({ agrees }) => agrees
    }
  ),
  Command.make(
    "call hangup",
    {
      summary: "ends a call, or with --tenant all live calls of a tenant",
      input: {
        callId: Flag.optional(Id.spelled("call"), "the call", { argument: "id" }),
        tenant: Flag.optional(TenantReference.Reference, "every live call of this tenant", { value: "ID|SLUG" })
      },
      oneOf: ["callId", "tenant"],
      run: Effect.fnUntraced(function* ({ callId, tenant = "" }) {
        const calls = yield* Calls
        if (callId === undefined)
          return EndedCalls.view(yield* calls.endAll(yield* TenantReference.idOf(tenant), "hung_up"))
        const { end_initiator, end_reason, id, status } = yield* calls.hangUp(callId)
        return { id, status, end_reason, end_initiator }
      })
    },
    { isSound: (answer) => !("calls_that_go_on" in answer) || EndedCalls.areOver(answer) }
  ),
  Command.make("call list", {
    summary: "lists the newest calls of a tenant",
    input: {
      tenant: TenantReference.required,
      status: Flag.optional(CallStatus, "only in this state"),
      fromNumber: Flag.optional(KeptE164, "only from this number", { flag: "from", value: "+E164" }),
      toNumber: Flag.optional(KeptE164, "only to this number", { flag: "to", value: "+E164" }),
      customerReference: Flag.optional(Flag.text(128), "only with this reference of the tenant", {
        flag: "reference",
        value: "TEXT"
      }),
      endReason: Flag.optional(CallEvent.endReason, "only calls that ended so", { flag: "reason" }),
      initiatedAfterMs: Flag.optionalTime("only later ones", { flag: "initiated-after" }),
      initiatedBeforeMs: Flag.optionalTime("only earlier ones", { flag: "initiated-before" }),
      limit: Flag.limit(50, 200),
      after: Flag.after
    },
    columns: "id direction from to status end_reason end_initiator duration_seconds cost_cents initiated_at",
    run: TenantReference.within((id, { after, limit, ...filters }) =>
      Calls.use((calls) => calls.list(id, filters, Flag.window(limit, after)))
    )
  })
]
