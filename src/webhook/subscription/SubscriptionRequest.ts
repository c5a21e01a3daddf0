import { Result } from "effect"
import { ApiError } from "../../domain/ApiError.ts"
import type { RouteId } from "../../domain/Id.ts"
import { eventTypes, isEventType } from "../../domain/event/EventCatalogue.ts"
import * as Secret from "../../domain/schema/Secret.ts"
import type { SubscriptionRow } from "./WebhookView.ts"

/** A tenant's request for a subscription. Types and lengths have been checked, the meaning has not. */
export interface SubscriptionRequest {
  readonly targetUrl: string
  readonly eventTypes: ReadonlyArray<string>
  /** At most 200 characters. */
  readonly description: string | null
  /** An id of the form `svc_route_…`. */
  readonly connectionId: RouteId | null
  readonly isActive: boolean
}

/** Absent fields stay as they are. */
export type SubscriptionPatch = Partial<SubscriptionRequest>

/**
 * Checks the given fields, guide/webhooks.md#subscriptions: an empty list is `event_types_required`, an unknown name is
 * `invalid_request`, and `*` beside other names is `*`. `refuse` judges the URL.
 */
export const check = <R extends SubscriptionPatch>(
  request: R,
  refuse: (url: string) => string | null
): Result.Result<R, ApiError> => {
  if (request.targetUrl !== undefined) {
    const refused = refuse(request.targetUrl)
    if (refused !== null) return Result.fail(ApiError.of("invalid_target_url", `target_url ${refused}`, "target_url"))
  }
  if (request.eventTypes === undefined) return Result.succeed(request)
  if (request.eventTypes.length === 0)
    return Result.fail(
      ApiError.of("event_types_required", 'event_types must name at least one event, or be ["*"]', "event_types")
    )
  const unknown = request.eventTypes.find((name) => name !== "*" && !isEventType(name))
  if (unknown !== undefined) {
    const message = `event_types: there is no event "${unknown.slice(0, 64)}"; there are *, ${eventTypes.join(", ")}`
    return Result.fail(ApiError.of("invalid_request", message, "event_types"))
  }
  const wanted = request.eventTypes.includes("*") ? ["*"] : [...new Set(request.eventTypes)]
  return Result.succeed({ ...request, eventTypes: wanted })
}

const wireNames = {
  targetUrl: "target_url",
  eventTypes: "event_types",
  description: "description",
  connectionId: "connection_id",
  isActive: "is_active"
} as const

interface Change {
  readonly field: string
  readonly from: boolean | string | null | ReadonlyArray<string>
  readonly to: boolean | string | null | ReadonlyArray<string>
}

const forAudit = (row: SubscriptionRow): SubscriptionRow => ({ ...row, targetUrl: Secret.maskUrl(row.targetUrl) })

/**
 * Old and new values of the fields that `after` changes, for the audit log, without the possibly secret parts of a URL.
 */
export const changes = (before: SubscriptionRow, after: SubscriptionRow): ReadonlyArray<Change> =>
  (Object.keys(wireNames) as Array<keyof typeof wireNames>).flatMap((name) =>
    String(before[name]) === String(after[name])
      ? []
      : [{ field: wireNames[name], from: forAudit(before)[name], to: forAudit(after)[name] }]
  )
