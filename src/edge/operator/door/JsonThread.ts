import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import * as AskedThread from "../../../runtime/process/AskedThread.ts"
import { ApiError } from "../../../domain/ApiError.ts"

export type Parsed = { readonly isJson: true; readonly value: unknown } | { readonly isJson: false }

/** Parses the body of a request; fails with `invalid_request`. */
export type ParseJson = (bytes: ArrayBuffer) => Effect.Effect<unknown, ApiError>

/** The answer to a body that is no JSON, or is too long. */
export const invalid = ApiError.of("invalid_request", "the body must be a JSON object of at most 32 MiB")
const lost = ApiError.of("service_unavailable", "the body was lost before it was read; send it again")

/** A shorter body takes less time here than its way to the thread and back. */
const longBytes = 262_144

/** Parses long bodies in a thread of its own, because one of 32 MiB takes a quarter of a second. */
export const make = Effect.gen(function* () {
  const thread = AskedThread.make<Uint8Array, Parsed>(() => new Worker(new URL("./JsonWorker.ts", import.meta.url)))
  yield* Effect.addFinalizer(() => thread.end)
  const parse: ParseJson = (bytes) =>
    bytes.byteLength < longBytes
      ? Effect.try({ try: () => JSON.parse(new TextDecoder().decode(bytes)) as unknown, catch: () => invalid })
      : thread.ask(new Uint8Array(bytes)).pipe(
          Effect.catchTag("ThreadDied", (died) =>
            Effect.andThen(Effect.logError("the thread that parses bodies died", died), Effect.fail(lost))
          ),
          Effect.flatMap((parsed) => (parsed.isJson ? Effect.succeed(parsed.value) : Effect.fail(invalid)))
        )
  return parse
})
