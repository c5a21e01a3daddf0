import { type Result, Schema } from "effect"
import * as WorkPrice from "../../../domain/WorkPrice.ts"
import * as Id from "../../../domain/Id.ts"
import type { Json, StoredEntity, StoredInput } from "../../../runtime/store/journal/Journal.ts"
import { CallInput } from "../machine/CallInput.ts"
import { CallState } from "../machine/CallState.ts"
import * as CallSetup from "../machine/CallSetup.ts"
import * as CallSealing from "./CallSealing.ts"
import * as StreamBody from "../verb/StreamBody.ts"
import * as CallVerbs from "../verb/CallVerbs.ts"

/**
 * Reads the formats of earlier versions as this one: states for recovery and reads, and inputs that the operator
 * replays. Each version has its upgrade to the next. A row that fits none fails, or throws, where it is read.
 *
 * Since version 3 secrets are sealed; earlier versions have them in the clear. Only a call that continues opens sealed
 * secrets; all other readers get the placeholders (`Sealing`).
 */
type Stored = Pick<StoredEntity, "state" | "stateVersion">
type Row = Readonly<Record<string, Json>>

/** The state of a stored row with placeholders for its secrets; fails where it cannot be read. */
export const state = (row: Stored): Result.Result<CallState, Schema.SchemaError> =>
  Schema.decodeUnknownResult(CallState)(CallSealing.standInState(shape(row)))

/** The state of a stored row whose call is live; fails where it cannot be read, or its secrets cannot be opened. */
export const liveState = (
  row: Stored,
  open: (sealed: string) => string | null
): Result.Result<CallState, Schema.SchemaError> =>
  Schema.decodeUnknownResult(CallState)(CallSealing.openState(shape(row), open))

/** A stored state in the shape of this version, whether or not it can be read. */
export const shape = (row: Stored): Json => {
  const version2 = row.stateVersion === 1 ? stateOf1(row.state) : row.state
  const version3 = row.stateVersion <= 2 ? stateOf2(version2) : version2
  const version4 = row.stateVersion <= 3 ? stateOf3(version3) : version3
  return row.stateVersion <= 4 ? stateOf4(version4) : version4
}

/** A journaled input with placeholders for its secrets; throws where it cannot be read. */
export const input = (stored: Pick<StoredInput, "at" | "input" | "machineVersion">): CallInput =>
  Schema.decodeUnknownSync(CallInput)(CallSealing.standInInput(inputShape(stored)))

/** A journaled input in the shape of this version, whether or not it can be read. */
export const inputShape = ({ at, input, machineVersion }: Pick<StoredInput, "at" | "input" | "machineVersion">) => {
  const version2 = machineVersion === 1 ? inputOf1(input, at) : input
  const version3 = machineVersion <= 2 ? inputOf2(version2) : version2
  const version4 = machineVersion <= 3 ? inputOf3(version3) : version3
  return machineVersion <= 4 ? inputOf4(version4) : version4
}

const rowOf = (value: Json | undefined): Row | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Row) : null

/** Version 4 had no conferences. Calls that were admitted then stay in them free of charge. */
const stateOf4 = (stored: Json): Json => {
  const old = rowOf(stored)
  return old === null ? stored : { ...old, ...pricesOf4(old), room: null, letGo: null }
}

const pricesOf4 = ({ prices = null }: Row): Row => {
  const old = rowOf(prices)
  return old === null ? {} : { prices: { ...old, conference: 0 } }
}

const inputOf4 = (stored: unknown): unknown => {
  const old = rowOf(stored as Json)
  const terms = rowOf(old?.["terms"])
  return terms === null ? stored : { ...old, terms: { ...terms, ...pricesOf4(terms) } }
}

/** Version 3 began no work by itself, charged only for the minutes of its leg, and had no bridges. */
const stateOf3 = (stored: Json): Json => {
  const old = rowOf(stored)
  if (old === null) return stored
  return {
    ...old,
    ...eachOf(old, "meters", { workId: null, pausedAt: null }),
    ...eachOf(old, "legs", { bridge: null, sipStatus: null, peerReason: null, quality: null }),
    ...eachOf(old, "pending", { options: {} }, "dial"),
    ...playedOf3(eachOf(old, "work", { prompts: null }, "gather")),
    prices: WorkPrice.free,
    plan: CallSetup.nothing
  }
}

/** Sounds were played only to the leg that they were requested for. */
const playedOf3 = ({ work = null }: Row): Row =>
  Array.isArray(work)
    ? {
        work: work.map((value: Json): Json => {
          const item = rowOf(value)
          const media = rowOf(item?.["media"])
          return item !== null && media?.["type"] === "play" ? { ...item, media: { ...media, target: "self" } } : value
        })
      }
    : {}

/** A list of the row with these fields added to each of its values, or to those of one type. */
const eachOf = (row: Row, list: string, fields: Row, type: string | null = null): Row => {
  const values = row[list]
  if (!Array.isArray(values)) return {}
  const added = (value: Json): Json => {
    const old = rowOf(value)
    return old === null || (type !== null && old["type"] !== type) ? value : { ...old, ...fields }
  }
  return { [list]: values.map(added) }
}

const inputOf3 = (stored: unknown): unknown => {
  const old = rowOf(stored as Json)
  const terms = rowOf(old?.["terms"])
  if (terms !== null) return { ...old, terms: { ...terms, prices: WorkPrice.free, plan: CallSetup.nothing } }
  const action = rowOf(old?.["action"])
  return action?.["verb"] === "answer" ? { ...old, action: answerOf3(action) } : stored
}

/** Version 3 had no media streams. */
const answerOf3 = (action: Row): unknown => ({
  ...action,
  body: { streamUrl: null, ...StreamBody.none, ...rowOf(action["body"]) }
})

/**
 * Version 2 reserved nothing: a call could last to the limit of its leg, which was what it could pay for at admission.
 * It keeps that limit, and reserves as much.
 */
const stateOf2 = (stored: Json): Json => {
  const old = rowOf(stored)
  if (old === null || !Array.isArray(old["meters"])) return stored
  const legs: ReadonlyArray<Json> = Array.isArray(old["legs"]) ? old["legs"] : []
  const limitOf = (legId: Json | undefined): Json =>
    legs.map(rowOf).find((leg) => leg?.["id"] === legId)?.["limit"] ?? null
  const meters: ReadonlyArray<Json> = old["meters"]
  return {
    ...old,
    meters: meters.map((meter) => {
      const fields = rowOf(meter)
      return fields === null ? meter : { ...fields, reservedMinutes: minutesOf2(limitOf(fields["legId"])) }
    }),
    renewalRefusedAt: null
  }
}

const minutesOf2 = (limit: unknown): number => {
  const afterSecs = rowOf(limit as Json)?.["afterSecs"]
  return typeof afterSecs === "number" ? Math.ceil(afterSecs / 60) : 0
}

const inputOf2 = (stored: unknown): unknown => {
  const old = rowOf(stored as Json)
  const terms = rowOf(old?.["terms"])
  return terms === null ? stored : { ...old, terms: { ...terms, reservedMinutes: minutesOf2(terms["limit"]) } }
}

/** Version 1 used the wall clock for its times, as its partition did then. */
const stateOf1 = (stored: Json): Json => {
  const old = rowOf(stored)
  return old === null ? stored : { ...workOf1(metersOf1(old)), timeOffsetMs: 0 }
}

/**
 * Version 1 had one rate, one ring time and one limit: those of its only leg. Its message to the account about its end
 * had no number.
 */
const metersOf1 = ({ limit = null, microUsdPerMinute = null, timeoutSecs = null, ...old }: Row): Row => {
  const legs: ReadonlyArray<Json> = Array.isArray(old["legs"]) ? old["legs"] : []
  const { direction = null, endedAt = null, status = null } = old
  const ringSecs = direction === "outbound" ? timeoutSecs : null
  const answeredAt = old["answeredAt"] ?? null
  return {
    ...old,
    legs: legs.map((leg) => ({ ...rowOf(legOf1(leg)), ringSecs, limit })),
    meters: [
      {
        kind: "leg",
        legId: rowOf(legs[0])?.["id"] ?? null,
        direction,
        microUsdPerMinute,
        startedAt: answeredAt,
        endedAt: answeredAt === null ? null : endedAt
      }
    ],
    told: status === "ended" || status === "failed" ? 1 : 0
  }
}

/** Version 1 kept playbacks and digits among the pending commands, and a gather in a field of its own. */
const workOf1 = (old: Row): Row => {
  if (!Array.isArray(old["pending"])) return old
  const { gather: _, ...rest } = old
  const all: ReadonlyArray<Json> = old["pending"]
  const items = all.map((each) => itemOf1(rowOf(each)))
  return {
    ...rest,
    pending: all.filter((_, index) => items[index] === null),
    work: [...items.filter((item) => item !== null), ...gatherOf1(old)],
    outliving: []
  }
}

/** Version 1 recorded neither the carrier incarnation that had a leg nor the number of its last event. */
const legOf1 = (leg: Json): Json => {
  const old = rowOf(leg)
  return old === null ? leg : { ...old, incarnation: null, heard: 0, lost: null }
}

const itemOf1 = (pending: Row | null): Row | null => {
  const { commandId = null, legId = null, playbackId = null, type = null } = pending ?? {}
  switch (type) {
    case "play":
      return { type: "playback", id: playbackId, commandId, legId, media: null, stop: null }
    case "send_dtmf":
      return { type: "digits", id: commandId, commandId, legId, media: null, stop: null }
    default:
      return null
  }
}

const gatherOf1 = ({ gather = null, id = null, legs = null }: Row): ReadonlyArray<Row> => {
  const running = rowOf(gather)
  if (running === null) return []
  const legId = rowOf(Array.isArray(legs) ? legs[0] : null)?.["id"] ?? null
  // A gather's id is not visible outside.
  const itemId = Id.deriveOpaque(typeof id === "string" ? id : "", "gather")
  return [{ type: "gather", id: itemId, commandId: itemId, legId, media: null, stop: null, ...running }]
}

const inputOf1 = (stored: Json, at: number): unknown => {
  const old = rowOf(stored)
  const { action, deadline, event, terms, type } = old ?? {}
  if (type === "place" || type === "offered")
    return { ...old, terms: { ...rowOf(terms), timeOffsetMs: 0, incarnation: null } }
  if (type === "recovered") return { type, ...recoveredOf1(old ?? {}, at) }
  if (type === "action") return { ...old, action: actionOf1(rowOf(action)) }
  if (type === "carrier") return { ...old, event: eventOf1(rowOf(event)) }
  return type === "deadline" && deadline === "gather" ? { ...old, deadline: "work" } : stored
}

/** A leg was present only while its own process lived, and then had no `lostAt`. Neither had an incarnation name. */
const recoveredOf1 = ({ legs = null, lostAt = null }: Row, at: number) => {
  const alive = lostAt === null ? Object.entries(rowOf(legs) ?? {}).filter(([, presence]) => presence === "alive") : []
  const facts = { state: "alerting", n: 0, ageMs: 0, answeredMs: null }
  return {
    snapshot: { incarnation: "", legs: Object.fromEntries(alive.map(([legId]) => [legId, facts])) },
    lostAt: lostAt ?? at
  }
}

/** The fields of an action, under their API names. The present schema of the body fills in the others. */
const actionOf1 = (old: Row | null): unknown => {
  const { type, ...fields } = old ?? {}
  const verb = CallVerbs.names.find((name) => name === type)
  return verb === undefined ? old : CallVerbs.decodeAction(verb, bodyOf1(verb, fields))
}

const bodyOf1 = (verb: CallVerbs.Built, fields: Row): unknown => {
  switch (verb) {
    case "send_dtmf":
      return { digits: fields["digits"], duration_millis: fields["durationMs"] }
    case "stop_playback":
      return { stop: fields["which"] }
    case "gather": {
      const options = rowOf(fields["options"]) ?? {}
      return {
        minimum_digits: options["minimumDigits"],
        maximum_digits: options["maximumDigits"],
        terminating_digit: options["terminatingDigit"],
        valid_digits: options["validDigits"],
        timeout_millis: options["timeoutMs"],
        inter_digit_timeout_millis: options["interDigitTimeoutMs"],
        initial_timeout_millis: options["initialTimeoutMs"]
      }
    }
    default:
      return fields
  }
}

/** Version 1 had a separate carrier event for each kind of media report. */
const eventOf1 = (old: Row | null): Json => ({ ...rowOf(renamedOf1(old)), incarnation: "", n: 0 })

const renamedOf1 = (old: Row | null): Json => {
  const { at = null, commandId, digit, legId = null, playbackId, reason, status, type } = old ?? {}
  const media = (event: Row): Row => ({ legId, at, type: "media", event })
  switch (type) {
    case "dtmf":
      return media({ type: "dtmf", digit: digit ?? null, at })
    case "playback_ended":
      return media({ type: "ended", id: playbackId ?? null, status: status ?? null, reason: reason ?? null })
    case "dtmf_sent":
      return media({ type: "ended", id: commandId ?? null, status: "completed", reason: null })
    default:
      return old
  }
}
