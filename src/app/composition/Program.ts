import { flushCompileCache } from "node:module"
import { Cause, Context, Data, Deferred, Effect, Exit, type Fiber, Layer, Schema, Scope } from "effect"
import { Fatal } from "../../runtime/process/Fatal.ts"
import * as ProcessEnd from "../../runtime/process/ProcessEnd.ts"
import * as Starting from "../../runtime/process/Starting.ts"
import { Stopping } from "../../runtime/process/Stopping.ts"
import * as Supervised from "../../runtime/process/Supervised.ts"
import * as Banner from "../boot/Banner.ts"
import * as Config from "../boot/config/Config.ts"
import * as Crash from "../boot/Crash.ts"
import * as Database from "../boot/Database.ts"
import * as DatabaseCheck from "../boot/DatabaseCheck.ts"
import * as Environment from "../boot/config/Environment.ts"
import * as StartFailure from "../boot/StartFailure.ts"
import * as Log from "../boot/log/Log.ts"
import * as NodeEntropy from "../boot/NodeEntropy.ts"
import * as Restore from "../boot/Restore.ts"
import * as StopRequests from "../boot/stop/StopRequests.ts"
import * as VaultKey from "../boot/VaultKey.ts"
import { Billing } from "../../money/billing/Billing.ts"
import { Calls } from "../../telephony/call/Call.ts"
import * as SipCarrier from "../../carrier/sip/SipCarrier.ts"
import { Conferences } from "../../telephony/conference/Conference.ts"
import * as Carriers from "./Carriers.ts"
import * as Core from "./Core.ts"
import * as Edges from "./Edges.ts"
import * as Recovery from "./Recovery.ts"
import * as HttpServer from "../../edge/http/Server.ts"
import * as CommandLine from "../../edge/operator/command/CommandLine.ts"
import * as Flag from "../../edge/operator/command/Flag.ts"
import * as BackupCommands from "../../edge/operator/installation/BackupCommands.ts"
import * as WaitingProbes from "../../edge/operator/door/WaitingProbes.ts"
import type { Address } from "../../runtime/store/postgres/Address.ts"
import * as EmbeddedPostgres from "../../runtime/store/embedded/EmbeddedPostgres.ts"
import * as OwnerFile from "../../runtime/store/embedded/OwnerFile.ts"

/**
 * The process: the order in which it takes its directory, its database and its calls, and how it stops. Its parts are
 * put together in `app/composition/`.
 */

const version = "0.2.0"

/** The process cannot continue: its database died, or another process took its journal over. */
class Stopped extends Data.TaggedError("Stopped")<{ readonly reason: string }> {
  override get message() {
    return this.reason
  }
}

/** How long closing may take after the drain, or after a stop during the start. */
const closeMs = 30_000
const sayEvery = "5 seconds"
/** How long the end of the process waits for the reader of its last lines. */
const lastWordsMs = 1_000

let main: Fiber.Fiber<void, unknown> | null = null
const requests = StopRequests.listen(() => main?.interruptUnsafe())

const configured = Effect.try({
  try: () => Config.parse(process.env),
  catch: (error) => (error instanceof Environment.ConfigInvalid ? error : new Stopped({ reason: String(error) }))
})

const serve = Effect.gen(function* () {
  const config = yield* configured
  const fatal = yield* Deferred.make<never, Stopped>()
  const stopping = yield* Deferred.make<void>()
  const starting = Starting.make()
  /** From then on a stop drains, and gives nothing up before the drain is over. */
  let isUp = false
  const giveUpStart = () => {
    if (isUp) return
    Deferred.doneUnsafe(stopping, Exit.void)
    requests.leaveAfter(closeMs)
  }
  requests.onStop(giveUpStart)
  const stop = (reason: string) => {
    Deferred.doneUnsafe(fatal, Exit.fail(new Stopped({ reason })))
    requests.failed()
  }

  const running = Effect.gen(function* () {
    const log = Effect.runForkWith(yield* Effect.context())
    requests.onUncaught((error) => {
      log(Effect.logFatal("an error that nothing caught ends the service", Cause.die(error)))
      stop(`an error that nothing caught: ${error instanceof Error ? error.message : String(error)}`)
    })
    const owned = yield* OwnerFile.acquire(config.dataDir)
    requests.outlives(owned.release)
    const keys = yield* VaultKey.load(config, owned.path)
    let standsInTheWay: ReadonlyArray<string> = ["starting"]
    let weaknesses: ReadonlyArray<string> = []
    // It ends after everything that was built over it, so its scope is there before theirs.
    const database = yield* Scope.fork(yield* Effect.scope)
    const start = Effect.gen(function* () {
      const connectable = Effect.gen(function* () {
        if (config.database === null) return yield* Scope.provide(embedded(owned, stop), database)
        weaknesses = yield* DatabaseCheck.suitable(config.database)
        return config.database
      })
      const address = Effect.tap(connectable, () =>
        Effect.sync(() => {
          standsInTheWay = ["waiting for its turn: another process may own the database"]
        })
      )
      const onOwned = () => {
        standsInTheWay = ["starting"]
      }
      const name = databaseName(config)
      const store = { address, name, keys, holder: owned.identity, onLost: stop, onOwned }
      const built = yield* Layer.build(
        Carriers.layer(config, owned.path, version).pipe(Layer.provideMerge(Core.layer(config, owned.path, store)))
      )
      yield* Effect.provide(Recovery.recover, built)
      return built
    })
    const probes = WaitingProbes.during({
      port: config.operatorPort,
      hosts: config.operatorHosts,
      reasons: () => standsInTheWay
    })
    const context = yield* probes(Effect.raceFirst(start, sayAwaited(starting.awaited)))

    const edges = Edges.layer(config, { dataDir: owned.path, version, unready: () => standsInTheWay })
    const edge = yield* Layer.build(edges).pipe(Effect.provide(context))
    standsInTheWay = []
    // This runs first when the service stops, so that nothing is closed while a call lives.
    yield* Effect.addFinalizer(() => {
      standsInTheWay = ["draining"]
      const refuseCalls = Context.get(context, SipCarrier.SipCarrier).drain
      return Effect.andThen(refuseCalls, drain(context, config.drainSecs * 1000)).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            Deferred.doneUnsafe(stopping, Exit.void)
            requests.leaveAfter(closeMs)
          })
        )
      )
    })
    // A service that is killed writes nothing at its end.
    flushCompileCache()
    isUp = true
    starting.end()
    for (const weakness of weaknesses) yield* Effect.logWarning(weakness)
    const hasRates = (yield* Context.get(context, Billing).rates(null)).length > 0
    const httpPort = Context.get(edge, HttpServer.Listening).port
    yield* Effect.sync(() => console.log(Banner.text(config, version, { hasRates, httpPort })))
    return yield* Deferred.await(fatal)
  })
  const surroundings = Layer.mergeAll(
    NodeEntropy.layer,
    Crash.layer(process.env["CRASH_POINT"]),
    Log.layer(config),
    Layer.succeed(Fatal, stop),
    Layer.succeed(Starting.Starting, starting),
    Layer.succeed(Stopping, Deferred.await(stopping))
  )
  // The start is given up, too, when the process cannot continue.
  return yield* Effect.provide(Effect.scoped(Effect.raceFirst(running, Deferred.await(fatal))), surroundings)
})

const databaseName = ({ database }: Pick<Config.Config, "database">) =>
  database === null ? "the embedded Postgres" : "DATABASE_URL: the database"

const embedded = Effect.fnUntraced(function* (owned: OwnerFile.OwnedDirectory, stop: (reason: string) => void) {
  const database = yield* EmbeddedPostgres.start(owned, { onLaunched: requests.outlives })
  yield* Supervised.fork(
    "the watch over the embedded Postgres",
    Effect.map(database.died, (why) => stop(`the embedded Postgres ended: ${why}`))
  )
  const address: Address = { url: database.url }
  return address
})

/**
 * Lets live calls continue for `drainMs`, or until a second request to stop; then they get their BYE. The drain runs in
 * a fiber that has been interrupted already, so only the fibers that it forks can be interrupted.
 */
const drain = (context: Context.Context<Calls | Conferences>, drainMs: number) => {
  const calls = Context.get(context, Calls)
  const conferences = Context.get(context, Conferences)
  // A conference ends with its calls.
  const within = (ms: number) =>
    Effect.all([calls.drain(ms), conferences.drain(ms)], { concurrency: "unbounded", discard: true })
  return Effect.raceFirst(
    Effect.interruptible(within(drainMs)),
    Effect.interruptible(Effect.andThen(requests.hurried, within(0)))
  )
}

/** Runs `npm run restore -- <file> --passphrase-file <file|->`, while the service is stopped. */
const restore = Effect.gen(function* () {
  const config = yield* configured
  const { file, passphrase } = yield* Effect.tryPromise({
    try: () =>
      CommandLine.read(process.argv.slice(3), {
        file: Flag.argument("file", Schema.String, "the backup"),
        passphrase: BackupCommands.passphrase
      }),
    catch: (error) => new Stopped({ reason: error instanceof Error ? error.message : String(error) })
  })
  const running = Effect.gen(function* () {
    const owned = yield* OwnerFile.acquire(config.dataDir)
    requests.outlives(owned.release)
    if (config.database !== null) yield* DatabaseCheck.suitable(config.database)
    const address = config.database ?? (yield* embedded(owned, () => undefined))
    const said = Database.unhurried(Restore.restore(file, passphrase, config, owned.path))
    console.log(yield* Effect.provide(said, Database.layer(address, { name: databaseName(config) })))
  })
  return yield* Effect.provide(Effect.scoped(running), Layer.merge(NodeEntropy.layer, Log.layer(config)))
})

const program: Effect.Effect<void, unknown> = process.argv[2] === "restore" ? restore : serve

/** Says in the log what a start waits for that takes long. */
const sayAwaited = (awaited: () => ReadonlyArray<string>): Effect.Effect<never> =>
  Effect.suspend(() => {
    const what = awaited()
    return what.length === 0 ? Effect.void : Effect.logInfo(`the start waits for ${what.join(" and for ")}`)
  }).pipe(Effect.delay(sayEvery), Effect.forever)

/** Nothing that is still open keeps the process: every start and every restore comes to an end. */
const leave = (exit: Exit.Exit<void, unknown>): void => {
  const end = (code: number) => ProcessEnd.after(code, lastWordsMs)
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return end(requests.hasFailed() ? 1 : 0)
  console.error(`trunkline: ${StartFailure.oneLine(exit.cause)}`)
  end(StartFailure.exitCode(exit.cause))
}

main = Effect.runFork(program)
// Fibers that wait keep no process alive.
setInterval(() => undefined, 60_000)
main.addObserver(leave)
