/**
 * Checks by OPTIONS whether each trunk is there, RFC 3261 section 11 (guide/connections.md#is-it-there), and reports
 * the results. Trunks at one host and port share one request.
 *
 * At most `maxTargets` are asked, `concurrency` of them at a time, each about every `everyMs`. The waits vary by a
 * quarter, so that the requests to many trunks do not stay together.
 */
import { Clock, Effect, Exit, FiberSet, Schedule } from "effect"
import type { RouteId } from "../../../domain/Id.ts"
import * as Supervised from "../../../runtime/process/Supervised.ts"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import * as Requests from "../../../protocol/sip/message/Requests.ts"
import type { SipTrunk } from "../../Carrier.ts"
import { TrunkStates } from "../../peer/TrunkStates.ts"
import type { Context } from "../Context.ts"
import * as NextHop from "../transport/NextHop.ts"
import * as SelfAddress from "../transport/SelfAddress.ts"
import * as Qualification from "./Qualification.ts"

const everyMs = 30_000
/** A new trunk is asked within this time. */
const firstMs = 1_000
/** How often the trunks are read again. */
const readMs = 5_000
/** How long to wait for an answer. The transaction repeats the request until then. */
const answerMs = 8_000
const tickMs = 500
const concurrency = 64
const maxTargets = 10_000
const page = 1_000

interface Target {
  readonly trunk: SipTrunk
  routes: ReadonlySet<RouteId>
  qualification: Qualification.Qualification
  dueAt: number
  isAsked: boolean
}

type Options = Pick<Context, "directory" | "resolve" | "transports" | "transactions" | "random" | "userAgent">

const keyOf = ({ host, port, transport }: SipTrunk): string => `${transport} ${host} ${port}`

/** Runs until the scope closes. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { directory, random, transactions, transports, userAgent } = options
  const states = yield* TrunkStates
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
  const targets = new Map<string, Target>()
  let asked = 0
  let isFull = false

  const now = () => Monotonic.read(clock)
  /** A random number from 0 to 1. */
  const chance = () => Number.parseInt(random(2), 16) / 0x1_00_00

  const report = ({ qualification: { lastStatus, rttMs, since, state }, routes }: Target): void => {
    for (const routeId of routes) states.report(routeId, { state, since, rttMs, lastStatus })
  }

  const all = Effect.gen(function* () {
    const found: Array<SipTrunk> = []
    for (;;) {
      const next = yield* directory.qualified(found.at(-1)?.routeId ?? "", page)
      found.push(...next)
      if (next.length < page || found.length >= 10 * maxTargets) return found
    }
  })

  /** Updates the set of trunks. */
  const read = Effect.map(all, (trunks) => {
    const found = Map.groupBy(trunks, keyOf)
    for (const [key, target] of targets) {
      const routes = new Set(found.get(key)?.map(({ routeId }) => routeId))
      for (const routeId of target.routes) if (!routes.has(routeId)) states.report(routeId, null)
      target.routes = routes
      if (routes.size === 0) targets.delete(key)
    }
    for (const [key, [trunk, ...more]] of found) {
      const known = targets.get(key)
      if (known === undefined && trunk !== undefined && targets.size < maxTargets)
        targets.set(key, {
          trunk,
          routes: new Set([trunk, ...more].map(({ routeId }) => routeId)),
          qualification: Qualification.start(clock.currentTimeMillisUnsafe()),
          dueAt: now() + chance() * firstMs,
          isAsked: false
        })
      const target = targets.get(key)
      if (target !== undefined) report(target)
    }
    const wasFull = isFull
    isFull = found.size > maxTargets
    return isFull && !wasFull
  }).pipe(
    Effect.flatMap((tooMany) =>
      tooMany ? Effect.logWarning(`only ${maxTargets} trunks are asked by OPTIONS: there are more`) : Effect.void
    ),
    Effect.catchCause((cause) => Effect.logDebug("the trunks could not be read; those that are known are asked", cause))
  )

  const options200 = (trunk: SipTrunk, { flow }: NextHop.Reached) => {
    const self = transports.self(flow)
    const uri = SelfAddress.host({ ...trunk, address: trunk.host })
    return Requests.make({
      ...NextHop.by(options, flow).hop,
      method: "OPTIONS",
      uri,
      from: `<${SelfAddress.host(self)}>;tag=${random(8)}`,
      to: `<${uri}>`,
      callId: random(16),
      cseq: 1,
      contact: `<${SelfAddress.host(self)}>`,
      headers: [
        ["Accept", "application/sdp"],
        ["User-Agent", userAgent]
      ]
    })
  }

  const ask = (trunk: SipTrunk): Effect.Effect<Qualification.Answer> =>
    Effect.flatMap(NextHop.wayTo(options, trunk), (reached) => {
      if (reached === null) return Effect.succeed({ status: null, rttMs: 0 })
      const answer = Effect.callback<Qualification.Answer>((resume) => {
        const from = now()
        transactions.request(options200(trunk, reached), reached.flow, {
          response: ({ status }) => {
            if (status >= 200) resume(Effect.succeed({ status, rttMs: now() - from }))
          },
          failed: () => resume(Effect.succeed({ status: null, rttMs: 0 }))
        })
      })
      return Effect.timeoutOrElse(answer, {
        duration: answerMs,
        orElse: () => Effect.succeed({ status: null, rttMs: 0 })
      })
    })

  const question = (target: Target): void => {
    target.isAsked = true
    asked++
    const fiber = fork(ask(target.trunk))
    fiber.addObserver((exit) => {
      asked--
      target.isAsked = false
      target.dueAt = now() + everyMs * (0.75 + chance() / 2)
      if (!Exit.isSuccess(exit)) return
      target.qualification = Qualification.step(target.qualification, exit.value, clock.currentTimeMillisUnsafe())
      report(target)
    })
  }

  const tick = Effect.sync(() => {
    const at = now()
    for (const target of targets.values()) {
      if (asked >= concurrency) return
      if (!target.isAsked && target.dueAt <= at) question(target)
    }
  })

  yield* Supervised.fork("the reader of trunks", Effect.repeat(read, Schedule.spaced(readMs)))
  yield* Supervised.fork("the questions to trunks", Effect.repeat(tick, Schedule.spaced(tickMs)))
})
