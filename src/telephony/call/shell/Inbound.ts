import { Deferred, Effect } from "effect"
import { Accounts } from "../../../money/account/Account.ts"
import { Billing } from "../../../money/billing/Billing.ts"
import type { Admission, InboundOffer } from "../../../carrier/Carrier.ts"
import * as CallIdentity from "../../../carrier/number/CallIdentity.ts"
import * as TrunkNumberPlan from "../../../carrier/number/TrunkNumberPlan.ts"
import { type TrunkAt, Trunks } from "../../../numbers/trunk/Trunk.ts"
import * as Id from "../../../domain/Id.ts"
import { Numbers } from "../../../numbers/number/Number.ts"
import type { CallRegistry } from "./CallRegistry.ts"
import * as CallSetup from "../machine/CallSetup.ts"
import * as Outage from "../../../runtime/store/Outage.ts"

/**
 * Admits an inbound leg, guide/calls.md#inbound-calls: number, then tenant, then admission. An unknown number is not
 * found, a suspended tenant is busy; an admitted call is committed before the carrier is answered. A leg has one call,
 * however often it is offered because the answer was lost.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly registry: CallRegistry
  readonly maxCallSecs: number
  /** False: new calls are refused. */
  readonly accepting: () => boolean
}) {
  const { accepting, maxCallSecs, registry } = options
  const accounts = yield* Accounts
  const billing = yield* Billing
  const connections = yield* Trunks
  const numbers = yield* Numbers

  /** The number's own route, else the tenant's route that the leg came in by, else the tenant's default. */
  const routeOf = Effect.fnUntraced(function* (
    tenantId: Id.TenantId,
    numberRouteId: Id.RouteId | null,
    arrivedBy: Id.RouteId | null,
    offer: InboundOffer
  ) {
    if (numberRouteId !== null) {
      const route = yield* Effect.option(connections.resolve(tenantId, numberRouteId))
      if (route._tag === "Some" && route.value.adapter === offer.adapter) return route.value.routeId
    }
    return arrivedBy ?? (yield* connections.resolve(tenantId, null)).routeId
  })

  /** The owner of an active number. */
  const ownerOf = (number: string) =>
    Effect.map(numbers.byDialled(number), (owner) => (owner?.status === "active" ? owner : null))

  /**
   * The number that a leg calls, its owner, and the owner's trunk at the address that the leg came from. What the
   * digits mean depends on the trunk, and a carrier may have trunks of several tenants at one address. So each number
   * plan there is tried, and counts only for a tenant whose own trunk reads the digits like that.
   */
  const findCalled = Effect.fnUntraced(function* ({ identity, source, to }: InboundOffer) {
    if (source === null || identity === undefined) {
      const owner = yield* ownerOf(to)
      if (owner === null) return null
      return { to, owner, trunk: source === null ? null : yield* connections.trunkAt(owner.tenantId, source) }
    }
    // Plans that differ in other fields read the same digits alike, and a number is looked up once.
    const tried = new Set<string>()
    for (const plan of [...(yield* connections.plansAt(source)), TrunkNumberPlan.none])
      for (const number of CallIdentity.called(plan, identity)) {
        if (tried.has(number)) continue
        tried.add(number)
        const owner = yield* ownerOf(number)
        if (owner === null) continue
        const trunk = yield* connections.trunkAt(owner.tenantId, source)
        if (CallIdentity.called(trunk?.plan ?? TrunkNumberPlan.none, identity).includes(number))
          return { to: number, owner, trunk }
      }
    return null
  })

  const admit = Effect.fnUntraced(function* (callId: Id.CallId, offer: InboundOffer) {
    const found = yield* findCalled(offer)
    if (found === null) return refused("not_found")
    const { owner, to, trunk } = found
    const caller = callerOf(offer, trunk)
    const { inboundRecording, tenantId } = owner
    if (owner.isSuspended) return refused("user_busy", { tenantId, routeId: null, why: "number_suspended" })
    const rate = yield* Effect.result(billing.rate(tenantId, "inbound", to))
    if (rate._tag === "Failure") return refused("unavailable", { tenantId, routeId: null, why: rate.failure.code })
    const home = yield* Effect.result(accounts.takeIn(tenantId))
    if (home._tag === "Failure") {
      const why = home.failure.code
      return refused(why === "tenant_suspended" ? "user_busy" : "unavailable", { tenantId, routeId: null, why })
    }
    const leave = connections.leave(callId)
    let spawned = false
    let of: Of = { tenantId, routeId: null, why: "fault" }
    const take = Effect.gen(function* () {
      const arrivedBy = trunk?.routeId ?? null
      const routeId = yield* routeOf(tenantId, owner.routeId, arrivedBy, offer)
      // The limits are those of the trunk that the leg came in by, whatever route its number has.
      const entering = { tenantId, routeId: arrivedBy ?? routeId, occupant: callId, direction: "inbound" } as const
      const entered = yield* Effect.result(connections.enter(entering))
      of = { ...of, routeId: entering.routeId }
      if (entered._tag === "Failure") {
        of = { ...of, why: entered.failure.code }
        return null
      }
      const actor = yield* registry.spawn(home.success, callId, leave)
      spawned = true
      yield* actor.tell({
        type: "offered",
        terms: {
          callId,
          timeOffsetMs: actor.time.offsetMs,
          tenantId,
          routeId,
          adapter: offer.adapter,
          incarnation: offer.incarnation,
          ...rate.success,
          // A ringing call reserves nothing; its answer does.
          reservedMinutes: 0,
          limit: { afterSecs: maxCallSecs, reason: "time_limit" },
          prices: yield* billing.prices,
          plan: CallSetup.ofNumber(inboundRecording)
        },
        legId: offer.legId,
        from: caller.from,
        to,
        caller: caller.facts,
        resume: offer.resume,
        headers: offer.headers ?? []
      })
      return actor.state() === null ? null : routeId
    })
    const routeId = yield* Effect.catchCause(take, (cause) => Effect.as(Outage.logged(notTaken, cause), null))
    if (routeId !== null) return { admitted: true, callId, routeId } satisfies Admission
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- `take` sets it
    if (!spawned) yield* leave
    return refused("unavailable", of)
  }, Effect.uninterruptible)

  /** Offers whose answer is awaited; a repeated offer waits for the same answer. */
  const asked = new Map<Id.CallId, Deferred.Deferred<Admission>>()

  const once = (callId: Id.CallId, offer: InboundOffer): Effect.Effect<Admission> => {
    const answer = Deferred.makeUnsafe<Admission>()
    asked.set(callId, answer)
    return admit(callId, offer).pipe(
      // An outage of the database is no defect of the leg, which gets its refusal.
      Effect.catchCause((cause) =>
        Outage.isCause(cause)
          ? Effect.as(Outage.logged(notTaken, cause), refused("unavailable"))
          : Effect.failCause(cause)
      ),
      Effect.onExit((exit) =>
        Effect.sync(() => {
          asked.delete(callId)
          Deferred.doneUnsafe(answer, exit)
        })
      )
    )
  }

  return (offer: InboundOffer): Effect.Effect<Admission> =>
    Effect.gen(function* () {
      const callId = Id.derive(`${offer.incarnation} ${offer.legId}`, "call")
      const known = yield* registry.known(callId, offer.at)
      if (known !== null) return known ? { admitted: true, callId, routeId: null } : refused("unavailable")
      if (!accepting()) return refused("unavailable")
      const waiting = asked.get(callId)
      return yield* waiting === undefined ? once(callId, offer) : Deferred.await(waiting)
    })
})

/** The caller as the plan of the trunk reads it. An adapter with one peer reports numbers in E.164. */
const callerOf = ({ from, identity, source }: InboundOffer, trunk: TrunkAt | null) => {
  if (identity === undefined) return { from, facts: CallIdentity.nothing }
  const caller = CallIdentity.caller(trunk?.plan ?? TrunkNumberPlan.none, identity)
  return source === null ? { ...caller, from } : caller
}

const notTaken = "an inbound call could not be taken in"

type Refused = Extract<Admission, { readonly admitted: false }>
type Of = NonNullable<Refused["of"]>

const refused = (cause: Refused["cause"], of: Of | null = null): Admission => ({
  admitted: false,
  cause,
  ...(of === null ? {} : { of })
})
