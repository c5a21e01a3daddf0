import { ByteSize, Effect, Stream } from "effect"
import { HttpIncomingMessage, HttpServerRequest, HttpServerResponse } from "effect/http"
import { envelope, httpStatus, ApiError } from "../../../domain/ApiError.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import * as PassingDefect from "../../../runtime/store/PassingDefect.ts"
import * as OperatorName from "../command/OperatorName.ts"
import * as Command from "../command/Command.ts"
import * as JsonAnswer from "./JsonAnswer.ts"
import * as JsonThread from "./JsonThread.ts"

/** A CSV table of 100,000 numbers is about 8 MB. */
const maxBody = ByteSize.mebibytes(32)

const respond = (error: ApiError) =>
  HttpServerResponse.text(envelope(error), { status: httpStatus(error), contentType: "application/json" })

const fault = ApiError.of("internal_error", "an internal error occurred; the service's log has its cause")

/**
 * The door of the operator's command line: `POST /operator/<command>` with a bearer token and a JSON object.
 *
 * It answers 200 with what the command answers, or the error envelope (guide/errors.md); 503 while the database is
 * away. Commands are uninterruptible, so a client that disconnects leaves nothing half done.
 */
export const make = <R>(options: {
  readonly commands: ReadonlyArray<Command.Command<R>>
  /** True for the token of the file, whose holder may give any name. */
  readonly accepts: (authorization: string | undefined) => boolean
  /** The name of the person with this token; null: it is no person's. */
  readonly nameOf: (token: string) => Effect.Effect<string | null>
  readonly parse: JsonThread.ParseJson
}) => {
  const commands = new Map(options.commands.map((command) => [Command.route(command), command]))
  const underWay = new Set<string>()

  const answer = Effect.fnUntraced(function* ({ alone, run, saves, words }: Command.Command<R>, body: unknown) {
    const start = Effect.suspend(() =>
      alone !== null && underWay.has(words)
        ? Effect.fail(ApiError.of("conflict", alone))
        : Effect.sync(() => underWay.add(words))
    )
    const end = Effect.sync(() => underWay.delete(words))
    if (saves !== "lines")
      return yield* Effect.acquireUseRelease(
        start,
        () => run(body),
        () => end
      )
    if (alone !== null && underWay.has(words)) return yield* ApiError.of("conflict", alone)
    const context = yield* Effect.context<R>()
    const lines = (yield* run(body)) as Stream.Stream<string, unknown, R>
    // The command is under way from its first line on, because a client may never read the stream.
    return HttpServerResponse.stream(
      Stream.unwrap(
        Effect.as(
          Effect.acquireRelease(start, () => end),
          lines
        )
      ).pipe(
        Stream.tapError((error) => Effect.logError(`the answer to "${words}" was cut short`, error)),
        Stream.encodeText,
        Stream.provideContext(context)
      ),
      { contentType: "application/x-ndjson" }
    )
  })

  /** The name in audit lines; null: the holder of the file's token gave none. */
  const nameIn = Effect.fnUntraced(function* (headers: HttpServerRequest.HttpServerRequest["headers"]) {
    const authorization = headers["authorization"]
    if (options.accepts(authorization)) {
      const given = headers[OperatorName.header] ?? null
      return given === null || OperatorName.isName(given)
        ? given
        : yield* ApiError.of("invalid_request", `the operator's name ${OperatorName.rule}`)
    }
    const token = /^Bearer ([0-9a-f]{64})$/.exec(authorization ?? "")?.[1]
    return (
      (token === undefined ? null : yield* options.nameOf(token)) ??
      (yield* ApiError.of("invalid_credentials", "the operator's token is missing or wrong"))
    )
  })

  const handle = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const operator = yield* nameIn(request.headers)
    const name = request.url.replace(/^\/operator\/|\?.*$/g, "")
    const command = commands.get(name)
    if (command === undefined) {
      const known = [...commands.keys()].join(", ")
      return yield* ApiError.of("not_found", `no operation ${JSON.stringify(name)}; there are: ${known}`)
    }
    const bytes = yield* Effect.mapError(request.arrayBuffer, () => JsonThread.invalid)
    const body = yield* options.parse(bytes)
    const answered = yield* Effect.uninterruptible(
      Effect.provideService(answer(command, body), Audit.OperatorName, operator)
    )
    return HttpServerResponse.isHttpServerResponse(answered) ? answered : yield* JsonAnswer.of(answered ?? {})
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
