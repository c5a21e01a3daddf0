import type { ServerResponse } from "node:http"
import { Effect, Schedule, type Scope } from "effect"
import * as HttpsServer from "./HttpsServer.ts"
import * as SeenEvent from "../SeenEvent.ts"
import * as TestCertificate from "./TestCertificate.ts"

/** One authority for a test file; receivers have its certificates for `*` names that resolve to 127.0.0.1. */
export const authority = TestCertificate.makeAuthority()
const certificate = authority.issue(["hook.example"])

export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
  readonly at: number
}

export interface HttpsReceiver {
  /** Everything received so far, in order of arrival. */
  readonly received: ReadonlyArray<Received>
  readonly url: (path?: string) => string
  /** Completes when `count` requests have arrived. Dies after twenty seconds, or when an event differs from its row. */
  readonly arrived: (count: number, path?: string) => Effect.Effect<ReadonlyArray<Received>>
}

/**
 * A webhook receiver on `https://hook.example`: records each whole request, then lets `answer` answer (default: 200).
 */
export const start = (
  answer: (request: Received, response: ServerResponse) => void = (_, response) => response.end()
): Effect.Effect<HttpsReceiver, never, Scope.Scope> =>
  Effect.gen(function* () {
    const received: Array<Received> = []
    const server = yield* HttpsServer.start(certificate, (request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const whole = {
          path: request.url ?? "",
          headers: request.headers,
          body: Buffer.concat(chunks).toString("utf8"),
          at: Date.now()
        }
        received.push(whole)
        answer(whole, response)
      })
    })
    const matching = (path?: string) => received.filter((request) => path === undefined || request.path === path)
    return {
      received,
      url: (path = "/") => `https://hook.example:${server.port}${path}`,
      arrived: (count, path) =>
        eventually(
          () => matching(path).length >= count,
          () => {
            const requests = matching(path)
            for (const { body } of requests) SeenEvent.checkBody(body)
            return requests
          }
        )
    }
  })

/** Looks every 5 ms until `holds`, then gives `value`; dies after twenty seconds. */
export const eventually = <A>(holds: () => boolean, value: () => A): Effect.Effect<A> =>
  Effect.suspend(() => (holds() ? Effect.succeed(value()) : Effect.fail("not yet"))).pipe(
    Effect.retry({ schedule: Schedule.spaced("5 millis") }),
    Effect.timeoutOrElse({
      duration: "90 seconds",
      orElse: () => Effect.die(new Error("it did not happen within ninety seconds"))
    }),
    Effect.orDie
  )
