import { Result, Schema } from "effect"
import * as Id from "../domain/Id.ts"
import type { StoredEntity } from "../store/Journal.ts"
import { CallState, Leg, Outliving, Pending, WorkItem } from "./CallState.ts"
import * as Meter from "./Meter.ts"
import * as Upgrade from "./Upgrade.ts"

/**
 * A call whose stored state cannot be read any more, as far as it can be told: field by field, each leg and each piece
 * of work for itself. What is whole is kept (how to end a leg, the rate, when it was answered, whether it has ended
 * already), so that every leg gets its BYE or CANCEL and the call its bill; the rest is guessed.
 */
export const fromUnreadable = (row: StoredEntity): CallState => {
  const raw = fieldsOf(Upgrade.shape(row))
  const legs = legsOf(raw, row.id)
  const [first] = legs
  const state = readable(CallState, raw, {
    id: row.id,
    timeOffsetMs: 0,
    tenantId: row.tenantId,
    direction: first.direction,
    status: first.status,
    from: first.from,
    to: first.to,
    routeId: "",
    adapter: "simulator",
    customerReference: null,
    initiatedAt: first.initiatedAt,
    answeredAt: first.answeredAt,
    endedAt: null,
    endReason: null,
    endInitiator: null,
    meters: [],
    ratingStatus: "pending",
    costCents: null,
    legs,
    pending: [],
    work: wholeOf(WorkItem, raw["work"]),
    outliving: wholeOf(Outliving, raw["outliving"]),
    sequence: 0,
    told: 0,
    seq: row.seq,
    at: first.initiatedAt
  })
  return {
    ...state,
    // The row's own columns know these.
    id: row.id,
    tenantId: row.tenantId,
    seq: row.seq,
    legs,
    meters: metersOf(raw, legs),
    answeredAt: state.answeredAt ?? first.answeredAt,
    // A call that ended was rated in the same commit.
    ratingStatus: isOver(state.status) ? "rated" : "pending",
    pending: isOver(state.status) ? hangupsOf(state, raw["pending"]) : []
  }
}

type Fields = Readonly<Record<string, unknown>>

/** At least one: a call has a leg. */
const legsOf = (raw: Fields, callId: string): readonly [Leg, ...ReadonlyArray<Leg>] => {
  const [first, ...others] = Array.isArray(raw["legs"]) ? raw["legs"].map(fieldsOf) : []
  const direction = raw["direction"] === "inbound" ? "inbound" : "outbound"
  const initiatedAt = typeof raw["initiatedAt"] === "number" ? raw["initiatedAt"] : 0
  const answeredAt = typeof raw["answeredAt"] === "number" ? raw["answeredAt"] : null
  const unknown = (id: string, role: Leg["role"]): Leg => ({
    id,
    role,
    direction,
    from: typeof raw["from"] === "string" ? raw["from"] : "unknown",
    to: typeof raw["to"] === "string" ? raw["to"] : "unknown",
    status: answeredAt === null ? "initiated" : "answered",
    initiatedAt,
    answeredAt,
    endedAt: null,
    endReason: null,
    endInitiator: null,
    ringSecs: direction === "outbound" ? 60 : null,
    limit: { afterSecs: 0, reason: "time_limit" },
    resume: null,
    dialId: null,
    gone: false,
    incarnation: null,
    heard: 0,
    lost: null
  })
  return [
    readable(Leg, first ?? {}, unknown(callId.replace("svc_call_", "svc_leg_"), "primary")),
    // One whose id is lost is nobody's to end.
    ...others.flatMap((leg) =>
      typeof leg["id"] === "string" ? [readable(Leg, leg, unknown(leg["id"], "transfer"))] : []
    )
  ]
}

/** One for each leg; a rate that is lost is free. */
const metersOf = (raw: Fields, legs: ReadonlyArray<Leg>): ReadonlyArray<Meter.Meter> => {
  const stored = Array.isArray(raw["meters"]) ? raw["meters"].map(fieldsOf) : []
  return legs.map((leg, index) => {
    const { answeredAt: startedAt, endedAt, id: legId } = leg
    const meter = readable(Meter.Meter, stored[index] ?? {}, { ...Meter.ofLeg(leg, 0), startedAt, endedAt })
    return { ...meter, legId, startedAt: meter.startedAt ?? startedAt }
  })
}

/** The call has ended; each leg that may still be there is hung up again, as it was asked to be where that is known. */
const hangupsOf = (state: CallState, pending: unknown): ReadonlyArray<Pending> => {
  const asked = wholeOf(Pending, pending).filter(({ type }) => type === "hangup")
  return state.legs.flatMap((leg): ReadonlyArray<Pending> => {
    if (leg.gone) return []
    const known = asked.find(({ legId }) => legId === leg.id)
    if (known !== undefined) return [known]
    const commandId = Id.deriveOpaque(leg.id, "hangup")
    return [{ type: "hangup", commandId, legId: leg.id, since: state.at, rejectCause: "error" }]
  })
}

const isOver = (status: CallState["status"]): boolean => status === "ended" || status === "failed"

/** Each field as it is where it can be read, else as `otherwise` has it. */
const readable = <S extends Schema.Struct<Readonly<Record<string, Schema.Codec<unknown, unknown>>>>>(
  { fields }: S,
  raw: Fields,
  otherwise: S["Type"]
): S["Type"] =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      Result.getOrElse(Schema.decodeUnknownResult(field)(raw[name]), () => fieldsOf(otherwise)[name])
    ])
  )

/** What is whole among them. */
const wholeOf = <A>(schema: Schema.Codec<A, unknown>, values: unknown): ReadonlyArray<A> =>
  Array.isArray(values)
    ? values.flatMap((value) => {
        const read = Schema.decodeUnknownResult(schema)(value)
        return Result.isSuccess(read) ? [read.success] : []
      })
    : []

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {})
