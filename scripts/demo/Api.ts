import { randomUUID } from "node:crypto"
import { at, Unexpected } from "./Json.ts"
import type { Timeline } from "./Timeline.ts"

/** An answer of the API that is not 2xx. */
export class ApiFailure extends Error {
  readonly code: string

  constructor(request: string, status: number, body: unknown) {
    super(
      `${request} was answered by ${status} ${String(at(body, "error", "code"))}: ${String(at(body, "error", "message"))}`
    )
    this.code = String(at(body, "error", "code"))
  }
}

export interface Api {
  /** The body of a 2xx answer; `tells` picks what the timeline shows of it, `null` keeps the request out of it. */
  readonly request: (
    method: "GET" | "POST",
    path: string,
    body: object | null,
    tells: ((body: unknown) => string) | null
  ) => Promise<unknown>
  /** Used from now on. */
  readonly authorize: (key: string) => void
}

const answerMs = 15_000

export const makeApi = (baseUrl: string, timeline: Timeline): Api => {
  let key: string | null = null
  return {
    authorize: (given) => {
      key = given
    },
    request: async (method, path, body, tells) => {
      const name = `${method} ${path.replace(/svc_call_[0-9a-f]+/, "{id}").replace(/\?.*/, "")}`
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        signal: AbortSignal.timeout(answerMs),
        headers: {
          accept: "application/json",
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(method === "POST" ? { "idempotency-key": randomUUID() } : {}),
          ...(body === null ? {} : { "content-type": "application/json" })
        },
        ...(body === null ? {} : { body: JSON.stringify(body) })
      }).catch((cause: unknown) => {
        throw new Unexpected(`${name}: no answer from ${baseUrl} (${cause instanceof Error ? cause.message : "?"})`)
      })
      const answer: unknown = await response.json().catch(() => null)
      if (!response.ok) throw new ApiFailure(name, response.status, answer)
      if (tells !== null) timeline.answer(name, response.status, tells(answer))
      return answer
    }
  }
}
