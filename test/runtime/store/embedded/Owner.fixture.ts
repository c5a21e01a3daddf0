/** A process that owns `argv[2]`, with its Postgres when `argv[3]` is `postgres`. It prints the result, then waits. */
import { Effect, Redacted } from "effect"
import * as EmbeddedPostgres from "../../../../src/runtime/store/embedded/EmbeddedPostgres.ts"
import * as OwnerFile from "../../../../src/runtime/store/embedded/OwnerFile.ts"

const [, , dataDir = "", mode] = process.argv

const own = Effect.gen(function* () {
  const owned = yield* OwnerFile.acquire(dataDir)
  const url = mode === "postgres" ? Redacted.value((yield* EmbeddedPostgres.start(owned)).url) : "owner"
  process.stdout.write(`${url}\n`)
  return yield* Effect.never
}).pipe(
  Effect.scoped,
  Effect.catch((error) => Effect.sync(() => process.stdout.write(`${error.message}\n`)))
)

const fiber = Effect.runFork(own)
process.once("SIGTERM", () => fiber.interruptUnsafe())
// Keeps the process alive while the fiber only waits.
const alive = setInterval(() => undefined, 60_000)
fiber.addObserver(() => clearInterval(alive))
