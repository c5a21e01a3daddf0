import { Result, Schema } from "effect"
import * as WorkPrice from "../../../domain/WorkPrice.ts"
import * as Id from "../../../domain/Id.ts"
import type { StoredInput, StoredOf } from "../../../runtime/store/journal/Journal.ts"
import * as CallMachine from "../machine/CallMachine.ts"
import { CallState, Outliving, WorkItem } from "../machine/CallState.ts"
import * as Legs from "../machine/leg/Leg.ts"
import { Leg } from "../machine/leg/Leg.ts"
import { Pending } from "../machine/leg/Pending.ts"
import * as Meter from "../machine/Meter.ts"
import * as CallSetup from "../machine/CallSetup.ts"
import * as CallSealing from "./CallSealing.ts"
import * as Upgrade from "./Upgrade.ts"

/**
 * Rebuilds a call whose stored state can no longer be read, field by field, with each leg and each item of work
 * separately. Readable parts are kept: how to end a leg, the rate, when it was answered, whether it has ended already.
 * The other parts come from a replay of its journaled inputs, so that every leg gets its BYE or CANCEL and the call its
 * bill. Parts that the journal lacks too are guessed.
 */
export const rebuild = (row: StoredOf<"call">, inputs: ReadonlyArray<StoredInput>): CallState => {
  const raw = fieldsOf(CallSealing.standInState(Upgrade.shape(row)))
  const known = replayed(inputs)
  const legs = legsOf(raw, row.id, known?.legs ?? [])
  const [first] = legs
  const state = readable(CallState, raw, {
    id: row.id,
    timeOffsetMs: 0,
    tenantId: row.tenantId,
    direction: first.direction,
    status: first.status,
    from: first.from,
    to: first.to,
    routeId: Id.RouteId.make(""),
    adapter: "simulator",
    customerReference: null,
    initiatedAt: first.initiatedAt,
    answeredAt: first.answeredAt,
    endedAt: null,
    endReason: null,
    endInitiator: null,
    meters: [],
    prices: WorkPrice.free,
    plan: CallSetup.nothing,
    renewalRefusedAt: null,
    ratingStatus: "pending",
    costCents: null,
    legs,
    pending: [],
    work: [],
    outliving: [],
    room: null,
    letGo: null,
    sequence: 0,
    told: 0,
    seq: row.seq,
    at: first.initiatedAt,
    ...known
  })
  return {
    ...state,
    // These are known from the row's own columns.
    id: row.id,
    tenantId: row.tenantId,
    seq: row.seq,
    legs,
    meters: metersOf(raw, legs, known?.meters ?? []),
    answeredAt: state.answeredAt ?? first.answeredAt,
    // A call that ended was rated in the same commit.
    ratingStatus: isOver(state.status) ? "rated" : "pending",
    pending: isOver(state.status)
      ? hangupsOf({ ...state, legs }, wholeOf(Pending, raw["pending"], known?.pending ?? []))
      : [],
    // An item that is bound to no leg would never end.
    work: wholeOf(WorkItem, raw["work"], known?.work ?? []).map((item) =>
      legs.some(({ id }) => id === item.legId) ? item : { ...item, legId: first.id }
    ),
    outliving: wholeOf(Outliving, raw["outliving"], known?.outliving ?? [])
  }
}

/** The state from the journal. An input that cannot be read, or is not accepted this time, is skipped. */
const replayed = (inputs: ReadonlyArray<StoredInput>): CallState | null =>
  inputs.reduce<CallState | null>((state, stored) => {
    try {
      const moment = { now: Math.round(stored.at), seed: stored.seed }
      const outcome = CallMachine.step(state, Upgrade.input(stored), moment)
      return outcome.type === "accepted" ? outcome.state : state
    } catch {
      return state
    }
  }, null)

type Fields = Readonly<Record<string, unknown>>

/** The legs: at least one, because a call has its own leg. */
const legsOf = (raw: Fields, callId: Id.CallId, known: ReadonlyArray<Leg>): readonly [Leg, ...ReadonlyArray<Leg>] => {
  const stored = Array.isArray(raw["legs"]) ? raw["legs"].map(fieldsOf) : []
  const [first = {}, ...others] = [...stored, ...known.slice(stored.length).map(fieldsOf)]
  const direction = raw["direction"] === "inbound" ? "inbound" : "outbound"
  const initiatedAt = typeof raw["initiatedAt"] === "number" ? raw["initiatedAt"] : 0
  const answeredAt = typeof raw["answeredAt"] === "number" ? raw["answeredAt"] : null
  const unknown = (id: Id.LegId, role: Leg["role"]): Leg => ({
    ...Legs.started(
      {
        id,
        role,
        direction,
        from: typeof raw["from"] === "string" ? raw["from"] : "unknown",
        to: typeof raw["to"] === "string" ? raw["to"] : "unknown",
        ringSecs: direction === "outbound" ? 60 : null,
        limit: { afterSecs: 0, reason: "time_limit" },
        dialId: null,
        incarnation: null
      },
      initiatedAt
    ),
    status: answeredAt === null ? "initiated" : "answered",
    answeredAt
  })
  return [
    readable(Leg, first, known[0] ?? unknown(Id.LegId.make(callId.replace("svc_call_", "svc_leg_")), "primary")),
    ...others.flatMap((leg, index) => {
      const otherwise =
        known[index + 1] ?? (typeof leg["id"] === "string" ? unknown(Id.LegId.make(leg["id"]), "transfer") : null)
      // A leg whose id is lost cannot be ended.
      return otherwise === null ? [] : [readable(Leg, leg, otherwise)]
    })
  ]
}

/** The length of the longest call that can be requested: when the reservation is unknown, all used minutes are owed. */
const mostMinutes = 1_440

/** One meter for each leg, free when its rate is unknown, and the meters of work that can be read. */
const metersOf = (
  raw: Fields,
  legs: ReadonlyArray<Leg>,
  known: ReadonlyArray<Meter.Meter>
): ReadonlyArray<Meter.Meter> => {
  const stored = Array.isArray(raw["meters"]) ? raw["meters"].map(fieldsOf) : []
  const ofLegs = legs.map((leg, index) => {
    const { answeredAt: startedAt, endedAt, id: legId } = leg
    const own = (meters: ReadonlyArray<Fields>) =>
      meters.find((meter) => meter["kind"] === "leg" && meter["legId"] === legId)
    const knownOne = known.find((meter) => meter.kind === "leg" && meter.legId === legId) ?? known[index]
    const otherwise = knownOne ?? { ...Meter.ofLeg(leg, { microUsdPerMinute: 0 }, mostMinutes), startedAt, endedAt }
    const meter = readable(Meter.Meter, own(stored) ?? (known.length === 0 ? (stored[index] ?? {}) : {}), otherwise)
    return { ...meter, kind: "leg" as const, legId, startedAt: meter.startedAt ?? startedAt }
  })
  return [...ofLegs, ...wholeOf(Meter.Meter, raw["meters"], known).filter(({ kind }) => kind !== "leg")]
}

/**
 * The call has ended, so each leg that may still exist is hung up again, with the requested cause where it is known.
 */
const hangupsOf = (state: CallState, pending: ReadonlyArray<Pending>): ReadonlyArray<Pending> => {
  const asked = pending.filter(({ type }) => type === "hangup")
  return state.legs.flatMap((leg): ReadonlyArray<Pending> => {
    if (leg.gone) return []
    const known = asked.find(({ legId }) => legId === leg.id)
    if (known !== undefined) return [known]
    const commandId = Id.CommandId.make(Id.deriveOpaque(leg.id, "hangup"))
    return [{ type: "hangup", commandId, legId: leg.id, since: state.at, rejectCause: "error" }]
  })
}

const isOver = (status: CallState["status"]): boolean => status === "ended" || status === "failed"

/** Takes each field that can be read, and replaces every other by the field of `otherwise`. */
const readable = <S extends Schema.Struct<Readonly<Record<string, Schema.Codec<unknown, unknown>>>>>(
  { fields }: S,
  raw: Fields,
  otherwise: S["Type"]
): S["Type"] =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = Result.getOrElse(Schema.decodeUnknownResult(field)(raw[name]), () => fieldsOf(otherwise)[name])
      // A field that may be absent is left out.
      return value === undefined ? [] : [[name, value]]
    })
  )

/** The values that can be read. Every other is replaced by the `known` value with its index. */
const wholeOf = <A>(schema: Schema.Codec<A, unknown>, values: unknown, known: ReadonlyArray<A>): ReadonlyArray<A> =>
  Array.isArray(values)
    ? values.flatMap((value, index) => {
        const read = Schema.decodeUnknownResult(schema)(value)
        return Result.isSuccess(read) ? [read.success] : known.slice(index, index + 1)
      })
    : known

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {})
