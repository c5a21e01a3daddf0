import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { mkdtemp, rm } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Clock, Context, Duration, Effect, Exit, Layer, Scheduler, Scope } from "effect"
import { InboundSimulator } from "../../carrier/InboundSimulator.ts"
import * as PhoneScript from "../../carrier/simulator/PhoneScript.ts"
import * as Recovery from "../composition/Recovery.ts"
import * as ReadTurns from "../../ports/egress/node/ReadTurns.ts"
import * as WsClient from "../../ports/egress/node/WsClient.ts"
import * as Activity from "./Activity.ts"
import * as Assembly from "./Assembly.ts"
import * as Databases from "./Databases.ts"
import type { Phone, Span } from "./phone/Phone.ts"
import * as Progress from "./Progress.ts"
import * as Quiet from "./Quiet.ts"
import * as Served from "./Served.ts"
import * as VirtualClock from "./VirtualClock.ts"
import * as Workspace from "./Workspace.ts"

export interface StartOptions {
  /**
   * `virtual` (default): the clock of calls stops until the test moves it, and then goes as fast as this machine can.
   * `real`: it is this machine's clock.
   */
  readonly clock?: "virtual" | "real"
  /** The time of the virtual clock at the start; default now. */
  readonly startsAt?: Date | string | number
  /** A Postgres whose user may create databases; default one of our own, shared by the services of this process. */
  readonly databaseUrl?: string
  /** The seed that ids and secrets are derived from. */
  readonly seed?: string
  /** Voices that the flow uses by name, `<engine>.<voice>`; `female` and `male` always exist. */
  readonly voices?: ReadonlyArray<string>
  /** How much real time any activity may take before the test fails; default 5 seconds. */
  readonly patience?: Span
  /** How much real time must be quiet before the clock moves, for a flow that runs in another process. */
  readonly settle?: Span
  /** The least level of log lines on the standard error output; default `Error`. */
  readonly logLevel?: Assembly.LogLevel
}

/** An event as it was delivered, guide/webhooks.md#deliveries. */
export interface WebhookEvent {
  readonly event_id: string
  readonly event_type: string
  readonly occurred_at: string
  readonly sequence: number
  // oxlint-disable-next-line typescript/no-explicit-any -- each type of event has fields of its own, as the document says
  readonly data: Readonly<Record<string, any>>
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

/** Uniform unsigned 32 bits from a seed (mulberry32). */
const randomOf = (seed: string) => {
  let state = Array.from(seed).reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, 0)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    return ((mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ (mixed >>> 14)) >>> 0
  }
}

/** Finds deliveries and jobs that are due or under way. */
const unfinished = `
  SELECT CASE
    WHEN EXISTS (SELECT FROM webhook_delivery WHERE status = 'sending' OR due_at <= now())
      OR EXISTS (SELECT FROM webhook_fan_out) THEN 'a delivery to a webhook'
    ELSE (SELECT 'a job of the service: ' || string_agg(DISTINCT kind, ', ') FROM job
      WHERE failed_at IS NULL AND (leased_by IS NOT NULL OR due_at <= now())) END AS what`

/** A running service, as `Trunkline` uses it. */
export type Running = Awaited<ReturnType<typeof start>>

export const start = async (options: StartOptions) => {
  const isVirtual = options.clock !== "real"
  const seed = options.seed ?? "trunkline"
  const startsAt = new Date(options.startsAt ?? Date.now()).getTime()
  if (!Number.isFinite(startsAt)) throw new TypeError(`startsAt: ${String(options.startsAt)} is no time`)
  if (!isVirtual && options.startsAt !== undefined) throw new TypeError("startsAt: the real clock shows what it shows")

  const scope = Scope.makeUnsafe()
  const ends: Array<() => Promise<void> | void> = []
  /** Runs every step, even when one fails. */
  const stop = async (): Promise<void> => {
    const failures: Array<unknown> = []
    for (const end of ends.splice(0).toReversed())
      try {
        await end()
      } catch (error) {
        failures.push(error)
      }
    if (failures.length > 0) throw new AggregateError(failures, "the service did not stop in order")
  }
  try {
    const server = await Databases.acquire(options.databaseUrl ?? null)
    ends.push(server.release)
    const database = await Databases.fresh(server.url, Workspace.prepare)
    ends.push(database.drop)
    const directory = await mkdtemp(join(tmpdir(), `trunkline-testing-${process.pid}-`))
    ends.push(() => rm(directory, { recursive: true, force: true }))
    const workspace: Workspace.Workspace = JSON.parse(database.told)

    const activity = Activity.make()
    const events: Array<WebhookEvent> = []
    const seenEvents = new Set<string>()
    const faults: Array<Error> = []
    const phones = new Map<string, Phone>()
    let streams = 0

    const served = Served.make({
      during: activity.during,
      fault: (error) => void faults.push(error),
      seen: ({ body, headers }) => {
        const id = headers["X-Webhook-Event-Id"]
        if (id === undefined || seenEvents.has(id) || typeof body !== "string") return
        seenEvents.add(id)
        events.push(JSON.parse(body))
      }
    })
    const virtual = VirtualClock.make(startsAt)
    const port = await freePort()
    const baseUrl = `http://127.0.0.1:${port}`

    const openSocket = WsClient.make(ReadTurns.make())

    const layer = Layer.merge(Assembly.api({ baseUrl, port }), Assembly.rows).pipe(
      Layer.provideMerge(
        Assembly.carriers({
          activity,
          directory,
          random: randomOf(seed),
          phones: {
            called: (number) => phones.get(number)?._called() ?? PhoneScript.simulated.called(number),
            calling: (number) => phones.get(number)?._calling() ?? PhoneScript.simulated.calling(number)
          },
          phoneOf: (leg, _script, onDigit) => {
            for (const phone of phones.values()) {
              const far = phone._connect(leg, onDigit)
              if (far !== null) return far
            }
            return null
          },
          openSocket: (pinned, wanted, handlers) => {
            streams++
            return openSocket(pinned, wanted, {
              ...handlers,
              onClose: (closed) => {
                streams--
                handlers.onClose(closed)
              }
            })
          }
        })
      ),
      Layer.provideMerge(
        Assembly.features({
          databaseUrl: database.url,
          baseUrl,
          directory,
          activity,
          egress: served.service,
          voices: options.voices ?? [],
          onLost: (error) => void faults.push(error)
        })
      ),
      Layer.provideMerge(Assembly.surroundings({ seed, logLevel: options.logLevel ?? "Error" }))
    )
    const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> =>
      Effect.runPromise(
        effect.pipe(
          Effect.provideService(Scheduler.Scheduler, activity.scheduler),
          isVirtual ? Effect.provideService(Clock.Clock, virtual) : (same) => same
        )
      )

    ends.push(virtual.stand)
    ends.push(() => {
      // Waits during the stop take real time.
      virtual.flow()
      return run(Scope.close(scope, Exit.void))
    })
    // The service is built in real time, because nothing moves the clock yet.
    virtual.flow()
    const context = await run(Effect.provideService(Layer.build(layer), Scope.Scope, scope))
    const within = <A, E>(effect: Effect.Effect<A, E>) => run(Effect.provide(effect, context))
    await run(Recovery.recover.pipe(Effect.provide(context), Effect.provideService(Scope.Scope, scope)))
    virtual.stand()

    const requests = (message: unknown): void => {
      const { response, socket } = message as { readonly response: ServerResponse; readonly socket: Socket }
      if (socket.localPort !== port) return
      const { method, url } = response.req
      response.once("close", activity.start(`${method} ${url} of the flow`))
    }
    subscribe("http.server.request.start", requests)
    ends.push(() => void unsubscribe("http.server.request.start", requests))

    const now = isVirtual ? () => virtual.currentTimeMillisUnsafe() : () => Date.now()
    const connection = await Databases.connect(database.url)
    ends.push(connection.close)
    const quiet = Quiet.make({
      activity,
      unfinished: async () => (await connection.query(unfinished))[0]?.["what"] ?? null,
      settleMs: Duration.toMillis(options.settle ?? 0),
      patienceMs: Duration.toMillis(options.patience ?? "5 seconds")
    })
    const progress = Progress.make({
      now,
      nextDue: isVirtual ? virtual.nextDue : () => Date.now() + 5,
      moveTo: isVirtual ? virtual.moveTo : () => undefined,
      quiet: isVirtual ? quiet : () => Promise.resolve(),
      isPaced: () => !isVirtual || streams > 0,
      takeFault: () => faults.shift() ?? null
    })
    ends.push(() => progress.fail(new Error("this Trunkline has been stopped")))

    return {
      activity,
      baseUrl,
      events,
      phones,
      progress,
      now,
      stop,
      workspace,
      serve: served.serve,
      later: (ms: number, then: () => void): void => void within(Effect.andThen(Effect.sleep(ms), Effect.sync(then))),
      setBalance: (cents: number) =>
        within(
          activity.during("a change of the balance", Effect.provide(Workspace.setBalance(workspace, cents), context))
        ),
      dial: async (from: string, to: string) => {
        const dialled = Context.get(context, InboundSimulator).simulateInbound({ from, to })
        return within(activity.during(`the call of ${from}`, dialled))
      }
    }
  } catch (error) {
    await stop()
    throw error
  }
}
