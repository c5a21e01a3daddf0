import { Effect } from "effect"
import type { OperatorClient } from "../../egress/OperatorEgress.ts"

/** The longest answer. A page of a hundred intents with everything that belongs to them is some hundred KiB. */
const mostBytes = 8 * 1024 * 1024

const methods = ["GET", "POST", "DELETE"] as const

/**
 * A `fetch` for the SDK over the egress to the operator's services: the SDK names the path, and the egress connects to
 * the configured host and no other.
 */
export const make =
  (client: OperatorClient, timeoutMs: number): typeof fetch =>
  async (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input)
    const method = methods.find((known) => known === init?.method)
    if (method === undefined) throw new Error(`the processor is not asked by ${init?.method ?? "GET"}`)
    const { body } = init ?? {}
    const answer = await Effect.runPromise(
      client.request({
        path: pathname + search,
        method,
        headers: Object.fromEntries(new Headers(init?.headers)),
        ...(typeof body === "string" && body !== "" ? { body } : {}),
        timeoutMs,
        maxResponseBytes: mostBytes
      }),
      init?.signal == null ? {} : { signal: init.signal }
    )
    return new Response(answer.body.slice().buffer, { status: answer.status, headers: answer.headers })
  }
