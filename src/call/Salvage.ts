import type { StoredEntity } from "../store/Journal.ts"
import type { CallState } from "./CallState.ts"

/**
 * A call whose stored state cannot be read any more, as far as it can be told (house, "Recovery"): enough for its
 * `call.ended` and for taking its leg down. It is free of charge, since its rate is unknown.
 */
export const fromUnreadable = (row: StoredEntity): CallState => {
  const raw = objectOf(row.state)
  const leg = objectOf(Array.isArray(raw["legs"]) ? raw["legs"][0] : undefined)
  const text = (value: unknown, otherwise: string) => (typeof value === "string" ? value : otherwise)
  const number = (value: unknown, otherwise: number) => (typeof value === "number" ? value : otherwise)
  const direction = raw["direction"] === "inbound" ? "inbound" : "outbound"
  const initiatedAt = number(raw["initiatedAt"], 0)
  const answeredAt = typeof raw["answeredAt"] === "number" ? raw["answeredAt"] : null
  const status = answeredAt === null ? "initiated" : "answered"
  const from = text(raw["from"], "unknown")
  const to = text(raw["to"], "unknown")
  return {
    id: row.id,
    tenantId: row.tenantId,
    direction,
    status,
    from,
    to,
    routeId: text(raw["routeId"], ""),
    adapter: text(raw["adapter"], "simulator"),
    customerReference: typeof raw["customerReference"] === "string" ? raw["customerReference"] : null,
    initiatedAt,
    answeredAt,
    endedAt: null,
    endReason: null,
    endInitiator: null,
    timeoutSecs: 60,
    limit: { afterSecs: 0, reason: "time_limit" },
    microUsdPerMinute: 0,
    ratingStatus: "pending",
    costCents: null,
    legs: [
      {
        id: text(leg["id"], row.id.replace("svc_call_", "svc_leg_")),
        role: "primary",
        direction,
        from,
        to,
        status,
        initiatedAt,
        answeredAt,
        endedAt: null,
        endReason: null,
        endInitiator: null,
        resume: null,
        dialId: typeof leg["dialId"] === "string" ? leg["dialId"] : null,
        gone: false
      }
    ],
    pending: [],
    gather: null,
    sequence: number(raw["sequence"], 0),
    seq: row.seq,
    at: number(raw["at"], initiatedAt)
  }
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
