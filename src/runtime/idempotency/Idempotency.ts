import { Clock, Context, Deferred, Effect, Exit, Layer } from "effect"
import { ApiError } from "../../domain/ApiError.ts"
import * as Journal from "../store/journal/Journal.ts"
import * as ReceiptLookup from "./ReceiptLookup.ts"
import * as Slot from "./Slot.ts"

/** How many requests with a key may run at once; the next one is refused with 503 `service_unavailable`. */
export const inFlightLimit = 10_000

/** How long a request waits here for the database before it gets 503 (src/runtime/README.md#one-writer). */
const timeoutMs = 2_000

/**
 * The first responses, guide/idempotency.md. A running request is in memory; a response is a row in the commit of its
 * request.
 *
 * A key with no row and nothing in memory has had no effect: the request runs.
 */
export class Idempotency extends Context.Service<
  Idempotency,
  {
    /**
     * Takes the place, or gives the stored first response. A caller that gets null holds the place until `release`.
     * Callers that come while the first one still looks for a response get the same result.
     *
     * Fails with `conflict` while the first request still runs, with `idempotency_conflict` when the body differs, with
     * `service_unavailable` at `inFlightLimit` and when the database is unreachable.
     */
    readonly claim: (slot: Slot.Slot) => Effect.Effect<Slot.Rendered | null, ApiError>
    readonly release: (slot: Slot.Slot) => void
    /** Releases the place once every commit that is queued now is decided; until then a repetition gets `conflict`. */
    readonly releaseWhenSettled: (slot: Slot.Slot) => Effect.Effect<void>
    /** Stores an error response durably, in a separate commit; 503 when the database is unreachable. */
    readonly remember: (slot: Slot.Slot, rendered: Slot.Rendered) => Effect.Effect<void, ApiError>
  }
>()("trunkline/idempotency/Idempotency") {
  static readonly layer = Layer.effect(
    Idempotency,
    Effect.gen(function* () {
      const journal = yield* Journal.Journal
      return make({
        find: yield* ReceiptLookup.make(timeoutMs),
        store: (receipt) => Effect.asVoid(journal.commitAsked({ ...Journal.empty, receipt })),
        settled: Effect.asVoid(journal.commit(Journal.empty))
      })
    })
  )

  /** Keeps the responses in a list that the test fills, for tests without a database. */
  static readonly layerMemory = (receipts: Array<Journal.Receipt>) =>
    Layer.succeed(
      Idempotency,
      make({
        find: (slot) =>
          Effect.map(
            Clock.currentTimeMillis,
            (now) =>
              receipts.findLast((row) => identityOf(row) === identityOf(slot) && row.at > now - Slot.windowMs) ?? null
          ),
        store: (receipt) => Effect.sync(() => void receipts.push(receipt)),
        settled: Effect.void
      })
    )
}

/** A request that holds a place. */
interface Running {
  readonly bodyHash: string
  /** The response that was already stored when the request came. */
  readonly found: Deferred.Deferred<ReceiptLookup.Stored | null, ApiError>
}

const opened = (slot: Slot.Slot, stored: ReceiptLookup.Stored): Effect.Effect<Slot.Rendered, ApiError> =>
  stored.bodyHash === slot.bodyHash ? Effect.sync(() => Slot.open(slot, stored)) : Effect.fail(otherBody)

const make = (rows: {
  /** Gives the stored response; null: there is no receipt. */
  readonly find: (slot: Slot.Slot) => Effect.Effect<ReceiptLookup.Stored | null, ApiError>
  readonly store: (receipt: Journal.Receipt) => Effect.Effect<void, ApiError>
  /** Completes when every commit queued before it is written or refused. */
  readonly settled: Effect.Effect<void>
}): Idempotency["Service"] => {
  const inFlight = new Map<string, Running>()

  const release = (slot: Slot.Slot): void => void inFlight.delete(identityOf(slot))

  const claim = Effect.fnUntraced(function* (slot: Slot.Slot) {
    const identity = identityOf(slot)
    const running = inFlight.get(identity)
    if (running !== undefined) {
      const stored = yield* Deferred.await(running.found)
      if (stored !== null) return yield* opened(slot, stored)
      return yield* running.bodyHash === slot.bodyHash ? stillRuns : otherBody
    }
    if (inFlight.size >= inFlightLimit) return yield* full
    const found = Deferred.makeUnsafe<ReceiptLookup.Stored | null, ApiError>()
    inFlight.set(identity, { bodyHash: slot.bodyHash, found })
    const stored = yield* Effect.onExit(rows.find(slot), (exit) =>
      Effect.sync(() => {
        if (Exit.isFailure(exit) || exit.value !== null) release(slot)
        Deferred.doneUnsafe(found, exit)
      })
    )
    return stored === null ? null : yield* opened(slot, stored)
  })

  const remember = Effect.fnUntraced(function* (slot: Slot.Slot, rendered: Slot.Rendered) {
    const receipt = Slot.receipt(slot, rendered, yield* Clock.currentTimeMillis)
    if (receipt === null) return
    yield* rows.store(receipt)
  })

  return {
    claim,
    remember,
    release,
    releaseWhenSettled: (slot) =>
      Effect.asVoid(
        Effect.forkDetach(
          Effect.ensuring(
            Effect.interruptible(rows.settled),
            Effect.sync(() => release(slot))
          )
        )
      )
  }
}

const identityOf = (slot: Pick<Slot.Slot, "owner" | "key" | "method" | "path">) =>
  `${slot.owner}\u0000${slot.key}\u0000${slot.method}\u0000${slot.path}`

const stillRuns = ApiError.of("conflict", "the first request with this Idempotency-Key is still running")
const otherBody = ApiError.of("idempotency_conflict", "this Idempotency-Key was used with a different body")
const full = ApiError.of("service_unavailable", "too many requests are in progress")
