import type { ClientRequest, IncomingMessage } from "node:http"
import { Cause, Deferred, Effect, type Scope, Stream } from "effect"
import { EgressError, type EgressReason, type EgressStreamResponse, type Streamed, type Upload } from "../Egress.ts"
import { announced, type Start, headersOf } from "./HttpExchange.ts"
import * as NodeFailure from "./NodeFailure.ts"

const failed = (reason: EgressReason, detail: string) => Cause.fail(new EgressError({ reason, detail }))
const stalled = (detail: string) => failed("timeout", detail)

/**
 * Sends one request whose bodies are streamed, as `Egress.stream` specifies.
 *
 * Node buffers at most 16 KiB each way: an upload is pulled when its last chunk was taken, an answer is read when it is
 * pulled.
 */
export const make = <E>(
  start: Start,
  { body, headers, idleMs, maxResponseBytes, method, timeoutMs }: Streamed<E>
): Effect.Effect<EgressStreamResponse<E>, EgressError | E, Scope.Scope> =>
  Effect.gen(function* () {
    const length = body?.length
    const request = yield* Effect.acquireRelease(
      Effect.sync(() =>
        start({ method, headers: length === undefined ? headers : { ...headers, "content-length": String(length) } })
      ),
      (request) => Effect.sync(() => void request.destroy())
    )
    const head = yield* Deferred.make<IncomingMessage>()
    let answer: IncomingMessage | undefined
    const broken = yield* Deferred.make<never, EgressError | E>()
    /** Ends the exchange early. A complete answer stays valid, because a server may answer early and hang up. */
    const because = (cause: Cause.Cause<EgressError | E>) => {
      if (answer?.complete === true) return
      Deferred.doneUnsafe(broken, Effect.failCause(cause))
      request.destroy()
    }
    const lost = (error: Error) => because(Cause.fail(NodeFailure.fromNode(error)))
    request.on("error", lost)
    request.once("response", (response) => {
      answer = response.on("error", lost)
      Deferred.doneUnsafe(head, Effect.succeed(response))
    })
    request.once("close", () => {
      if (answer === undefined) because(failed("reset", "the connection was closed without an answer"))
    })
    // The headers are sent now, because the other side may want to answer before the first byte of the body.
    if (body !== undefined) request.flushHeaders()

    yield* Effect.forkScoped(
      Effect.delay(
        Effect.sync(() => because(stalled("no complete answer in time"))),
        timeoutMs
      )
    )
    yield* Effect.forkScoped(
      Effect.raceFirst(upload(request, body, idleMs), Deferred.await(broken)).pipe(
        Effect.andThen(Effect.delay(Effect.void, idleMs)),
        Effect.andThen(Effect.suspend(() => (Deferred.isDoneUnsafe(head) ? Effect.void : noAnswer))),
        Effect.tapCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.sync(() => because(cause)))),
        Effect.ignoreCause
      )
    )

    const response = yield* Effect.raceFirst(Deferred.await(head), Deferred.await(broken))
    if (announced(response, method) > maxResponseBytes) {
      request.destroy()
      return yield* Effect.failCause(tooLarge(maxResponseBytes))
    }
    return {
      status: response.statusCode ?? 0,
      headers: headersOf(response),
      body: download(request, response, broken, { idleMs, maxResponseBytes })
    }
  })

const noAnswer = Effect.failCause(stalled("the other side does not answer"))
const tooLarge = (max: number) => failed("too_large", `the answer is longer than ${max} bytes`)

/** Sends the whole body, and waits whenever the other side does not read. */
const upload = <E>(
  request: ClientRequest,
  body: Upload<E> | undefined,
  idleMs: number
): Effect.Effect<void, EgressError | E> => {
  const end = Effect.sync(() => void request.end())
  if (body === undefined) return end
  let sent = 0
  const wrongLength = Effect.failCause(failed("wrong_length", "the upload is not as long as announced"))
  const write = (chunk: Uint8Array) =>
    Effect.callback<void, EgressError>((resume) => {
      sent += chunk.length
      if (body.length !== undefined && sent > body.length) return resume(wrongLength)
      if (request.write(chunk)) return resume(Effect.void)
      const taken = () => resume(Effect.void)
      request.once("drain", taken)
      return Effect.sync(() => void request.off("drain", taken))
    }).pipe(
      Effect.timeoutOrElse({
        duration: idleMs,
        orElse: () => Effect.failCause(stalled("the other side reads nothing"))
      })
    )
  return Stream.runForEach(body.stream, write).pipe(
    Effect.andThen(Effect.suspend(() => (body.length !== undefined && sent < body.length ? wrongLength : end)))
  )
}

/** The answer's body. Bytes that arrived before a break come before its failure. */
const download = <E>(
  request: ClientRequest,
  response: IncomingMessage,
  broken: Deferred.Deferred<never, EgressError | E>,
  { idleMs, maxResponseBytes }: { readonly idleMs: number; readonly maxResponseBytes: number }
): Stream.Stream<Uint8Array, EgressError | E> => {
  let received = 0
  const giveUp = (cause: Cause.Cause<EgressError>) => {
    request.destroy()
    return Effect.failCause(cause)
  }

  /** Gives a chunk, the end, or the failure; null: there is nothing yet. */
  const take = (): Effect.Effect<readonly [Uint8Array], EgressError | E | Cause.Done> | null => {
    // A body that breaks off must not look complete, because Node ends the answer of a request that is destroyed.
    if (Deferred.isDoneUnsafe(broken) && response.readableLength === 0) return Deferred.await(broken)
    const chunk: Buffer | null = response.read()
    if (chunk === null) return response.readableEnded && response.complete ? Cause.done() : null
    received += chunk.length
    return received > maxResponseBytes ? giveUp(tooLarge(maxResponseBytes)) : Effect.succeed([chunk])
  }

  // It reads only while a reader waits, because a chunk that is read and not handed over would be lost.
  let wake: (() => void) | null = null
  for (const name of ["readable", "end", "close"]) response.on(name, () => wake?.())
  const next = Effect.callback<readonly [Uint8Array], EgressError | E | Cause.Done>((resume) => {
    wake = () => {
      const taken = take()
      if (taken === null) return
      wake = null
      resume(taken)
    }
    wake()
    return Effect.sync(() => void (wake = null))
  })

  const waited = Effect.timeoutOrElse(next, {
    duration: idleMs,
    orElse: () => giveUp(stalled("the other side sends nothing"))
  })
  return Stream.fromPull(Effect.succeed(waited))
}
