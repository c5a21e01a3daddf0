import { Clock, Effect, Metric, Result } from "effect"
import { CrashPoint } from "../../runtime/process/CrashPoint.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { Egress } from "../../ports/egress/Egress.ts"
import { Vault } from "../../runtime/store/vault/Vault.ts"
import * as RetryPolicy from "./RetryPolicy.ts"
import type * as ClaimStatement from "../claim/ClaimStatement.ts"
import type * as DeliveryQueue from "../claim/DeliveryQueue.ts"
import * as Signature from "./Signature.ts"
import * as Snippet from "./Snippet.ts"

/** The limit for the answer of a target. */
export const timeoutMs = 10_000

/** An older claim is left to its lease, because the attempt could still be under way when the lease ends. */
const startWithinMs = 10_000

/** The number of opened signing secrets in memory. Opening one costs as much as the rest of preparing an attempt. */
const openSecrets = 4_096

/** A claimed row, with the monotonic time when the statement that claimed it began. */
export interface Delivery extends ClaimStatement.Delivery {
  readonly sinceMs: number
}

/** How long the body may come after the status line. The next event of the lane waits meanwhile. */
export const snippetMs = 250

const attempts = Metric.counter("webhook_attempts_total", { description: "Webhook attempts by how they ended" })
const counted = {
  succeeded: Metric.withAttributes(attempts, { outcome: "succeeded" }),
  failed: Metric.withAttributes(attempts, { outcome: "failed" }),
  queued: Metric.withAttributes(attempts, { outcome: "to_be_retried" })
} as const

/**
 * Makes one attempt at a claimed delivery, and gives the outcome to be written. Null: the claim is too old to begin.
 * Never fails.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly version: string
  readonly delaysMs: ReadonlyArray<number>
}) {
  const egress = yield* Egress
  const vault = yield* Vault
  const crash = yield* CrashPoint

  const open = remembering(openSecrets, vault.open)

  const send = Effect.fnUntraced(function* (delivery: Delivery, target: Signed, now: number) {
    const headers = Signature.headers({
      secret: target.secret,
      eventId: delivery.eventId,
      body: delivery.body,
      now,
      version: options.version
    })
    const answer = yield* Effect.result(
      egress.request({
        url: target.url,
        method: "POST",
        headers,
        body: delivery.body,
        timeoutMs,
        maxResponseBytes: Snippet.bytes,
        truncate: { afterMs: snippetMs },
        maxRedirects: 0
      })
    )
    crash("mid_delivery")
    return answer
  })

  return Effect.fnUntraced(function* (delivery: Delivery): Effect.fn.Return<DeliveryQueue.Outcome | null> {
    if ((yield* Monotonic.now) - delivery.sinceMs > startWithinMs) return null
    const target = targetOf(delivery, open)
    const { reply, sentAt, snippet } = yield* Effect.gen(function* () {
      if (target === null) return withdrawn
      if (target.secret === null) return unsigned
      const sentAt = yield* Clock.currentTimeMillis
      const answer = yield* send(delivery, target, sentAt)
      if (Result.isFailure(answer))
        return { reply: { type: "transport_error", message: answer.failure.message } as const, sentAt, snippet: null }
      const { body, headers, status } = answer.success
      const retryAfterMs = RetryPolicy.retryAfterMs(headers["retry-after"], yield* Clock.currentTimeMillis)
      const reply = { type: "answered", statusCode: status, retryAfterMs } as const
      return { reply, sentAt, snippet: Snippet.of(body, headers["content-encoding"]) }
    })
    const verdict = RetryPolicy.judge(delivery.attemptNo, reply, options.delaysMs)
    yield* Metric.update(counted[verdict.status], 1)
    return {
      id: delivery.id,
      tenantId: delivery.tenantId,
      endpoint: delivery.endpoint,
      eventId: delivery.eventId,
      wasFailing: delivery.isFailing,
      attemptNo: delivery.attemptNo,
      status: verdict.status,
      retryAfterMs: verdict.status === "queued" ? verdict.retryAfterMs : null,
      statusCode: reply.type === "answered" ? reply.statusCode : null,
      bodySnippet: snippet,
      errorMessage: RetryPolicy.explain(reply),
      sentAt
    }
  })
})

interface Signed {
  readonly url: string
  readonly secret: string
}
/** `secret` is null when it was sealed under a key that this installation no longer has. */
type Target = Signed | { readonly url: string; readonly secret: null }

interface Sent {
  readonly reply: RetryPolicy.Reply
  readonly sentAt: number | null
  readonly snippet: string | null
}

/** Retried like a transport error, because the operator may bring the key back. */
const unsigned: Sent = {
  reply: { type: "transport_error", message: "the signing secret cannot be opened" },
  sentAt: null,
  snippet: null
}
const withdrawn: Sent = { reply: { type: "withdrawn" }, sentAt: null, snippet: null }

/** Keeps the newest `capacity` results. A failure is not kept. */
const remembering = (capacity: number, of: (key: string) => string) => {
  const known = new Map<string, string>()
  return (key: string): string => {
    const found = known.get(key) ?? of(key)
    if (known.size >= capacity && !known.has(key)) for (const oldest of known.keys()) if (known.delete(oldest)) break
    known.set(key, found)
    return found
  }
}

const targetOf = ({ sealedSecret, targetUrl }: Delivery, open: (sealed: string) => string): Target | null => {
  if (targetUrl === null || sealedSecret === null) return null
  try {
    return { url: targetUrl, secret: open(sealedSecret) }
  } catch {
    return { url: targetUrl, secret: null }
  }
}
