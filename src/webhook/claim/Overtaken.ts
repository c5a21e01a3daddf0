import { newestOnly } from "../../domain/event/EventLane.ts"

/** The message in the delivery log of a delivery that was dropped because a newer event replaces it. */
export const message = "overtaken by a newer event of the same member"

/**
 * SQL that is true of a retry that a newer delivery to the same endpoint has overtaken. A delivery that is made again
 * on request is attempt 1 and counts as no retry.
 */
export const isRetry = (of: string): string => `(${of}.status = 'queued' AND ${of}.attempt_no > 0
      AND starts_with(${of}.lane, '${newestOnly}') AND EXISTS (
        SELECT FROM webhook_delivery n
        WHERE n.destination = ${of}.destination AND n.lane = ${of}.lane AND n.sequence > ${of}.sequence
          AND starts_with(n.lane, '${newestOnly}')))`
