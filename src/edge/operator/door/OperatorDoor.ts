import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import { envelope, httpStatus, ApiError } from "../../../domain/ApiError.ts"
import * as PassingDefect from "../../../runtime/store/PassingDefect.ts"
import type { Operation } from "./Operation.ts"

/** A table of 100,000 numbers is about 8 MB of CSV. */
const maxBody = ByteSize.mebibytes(32)

const respond = (error: ApiError) =>
  HttpServerResponse.text(envelope(error), { status: httpStatus(error), contentType: "application/json" })

const fault = ApiError.of("internal_error", "an internal error occurred; the service's log has its cause")

const unknown = (name: string, operations: ReadonlyMap<string, Operation>) =>
  ApiError.of("not_found", `no operation ${JSON.stringify(name)}; there are: ${[...operations.keys()].join(", ")}`)

/**
 * The operator command's door: `POST /operator/<operation>` with a bearer token and a JSON object.
 *
 * 200 with the answer, or the error envelope (guide/errors.md); 503 while the database is away. Changes are uninterruptible: a caller that goes away
 * leaves nothing half done.
 */
export const make = (options: {
  readonly operations: ReadonlyArray<Operation>
  readonly accepts: (authorization: string | undefined) => boolean
}) => {
  const operations = new Map(options.operations.map((operation) => [operation.name, operation]))

  const handle = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    if (!options.accepts(request.headers["authorization"]))
      return yield* ApiError.of("invalid_credentials", "the operator's token is missing or wrong")
    const name = request.url.replace(/^\/operator\/|\?.*$/g, "")
    const operation = operations.get(name)
    if (operation === undefined) return yield* unknown(name, operations)
    const body = yield* request.json.pipe(
      Effect.mapError(() => ApiError.of("invalid_request", "the body must be a JSON object of at most 32 MiB"))
    )
    const answer = yield* Effect.uninterruptible(operation.run(body))
    return HttpServerResponse.isHttpServerResponse(answer) ? answer : HttpServerResponse.jsonUnsafe(answer ?? {})
  })

  return HttpServerRequest.HttpServerRequest.pipe(
    Effect.flatMap(handle),
    Effect.provideService(HttpIncomingMessage.MaxBodySize, maxBody),
    Effect.catchTag("ApiError", (error) => Effect.succeed(respond(error))),
    Effect.catchDefect((defect) => {
      const passing = PassingDefect.of(defect)
      return passing === null
        ? Effect.as(Effect.logError("an operator's request died", defect), respond(fault))
        : Effect.as(Effect.logWarning(passing.why, defect), respond(passing.answer))
    })
  )
}
