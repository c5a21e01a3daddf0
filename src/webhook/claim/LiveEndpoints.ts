import { Effect, FiberMap, Option } from "effect"
import type { TenantId } from "../../domain/Id.ts"
import * as FairShare from "../../domain/fair/FairShare.ts"
import {
  type Handed,
  type Happened,
  nothingOffered,
  type Offer
} from "../../runtime/store/journal/ClaimedDeliveries.ts"
import type * as Claimer from "./Claimer.ts"
import * as WebhookEndpoint from "./WebhookEndpoint.ts"
import { places } from "./WebhookEndpointMachine.ts"

/** While more than a quarter of `maxLive` endpoints are live, those without work stop after this share of `idleMs`. */
const crowdedShare = 0.02

/**
 * No deliveries of a tenant with more live endpoints than this are offered, because each would have to be listed for
 * the journal.
 */
const offeredLimit = 64

/**
 * The endpoints with a fiber, by tenant. Each begins when there is work for it and ends after an idle time. Tenants
 * share the `maxLive` places; an endpoint without a place is found again by the next look at due rows.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly maxLive: number
  readonly idleMs: number
  /** The places for deliveries, which the tenants share. */
  readonly shares: FairShare.CountedShare
  readonly holds: (partition: number) => boolean
  readonly claim: (request: Claimer.Request) => void
  readonly placesFreed: () => void
  readonly deliver: WebhookEndpoint.Deliver
  /** Makes the claimed rows of an endpoint that died due at once. */
  readonly release: (partition: number, endpoint: string) => Effect.Effect<unknown, unknown>
}) {
  const { maxLive, shares } = options
  const fibers = yield* FiberMap.make<string, void, never>()
  const fork = yield* FiberMap.runtime(fibers)()
  const capacity = FairShare.counted({ capacity: maxLive })
  const live = new Map<string, WebhookEndpoint.WebhookEndpoint>()
  const byTenant = new Map<TenantId, Map<string, WebhookEndpoint.WebhookEndpoint>>()
  let isClosing = false

  const idleMs = (): number => (capacity.used() > maxLive / 4 ? options.idleMs * crowdedShare : options.idleMs)

  const forget = (id: string, endpoint: WebhookEndpoint.WebhookEndpoint): void => {
    if (live.get(id) !== endpoint) return
    const { tenantId } = endpoint
    live.delete(id)
    capacity.giveBack(tenantId)
    const siblings = byTenant.get(tenantId)
    siblings?.delete(id)
    if (siblings?.size === 0) byTenant.delete(tenantId)
    endpoint.close()
  }

  // The next look at due rows starts a dead endpoint again, and finds the rows that it had claimed.
  const supervise = (id: string, endpoint: WebhookEndpoint.WebhookEndpoint) =>
    Effect.catchCause(endpoint.run, (cause) =>
      Effect.logError("a webhook endpoint died", cause).pipe(
        Effect.andThen(
          Effect.ignore(options.release(endpoint.partition, id), {
            log: "Warn",
            message: "claims of an endpoint return with their leases"
          })
        ),
        Effect.andThen(Effect.sync(() => forget(id, endpoint)))
      )
    )

  const start = (id: string, tenantId: TenantId, partition: number): WebhookEndpoint.WebhookEndpoint => {
    const endpoint: WebhookEndpoint.WebhookEndpoint = Effect.runSync(
      WebhookEndpoint.make({
        id,
        tenantId,
        partition,
        idleMs,
        claim: options.claim,
        deliver: options.deliver,
        giveBack: (count) => {
          if (count === 0) return
          shares.giveBack(tenantId, count)
          options.placesFreed()
        },
        stopped: () => forget(id, endpoint)
      })
    )
    live.set(id, endpoint)
    byTenant.set(tenantId, (byTenant.get(tenantId) ?? new Map()).set(id, endpoint))
    fork(id, supervise(id, endpoint))
    return endpoint
  }

  /** Null: the endpoint may not live now. */
  const find = (id: string, tenantId: TenantId, partition: number): WebhookEndpoint.WebhookEndpoint | null => {
    if (isClosing || !options.holds(partition)) return null
    const known = live.get(id)
    if (known !== undefined) return known
    return capacity.take(tenantId) ? start(id, tenantId, partition) : null
  }

  /** True when a tenant could begin some deliveries now. */
  const isOpen = (tenantId: TenantId): boolean =>
    (byTenant.get(tenantId)?.size ?? 0) <= offeredLimit &&
    shares.allows(tenantId, 1, offeredLimit) &&
    capacity.allows(tenantId, 1, offeredLimit)

  return {
    size: () => live.size,
    wake: (id: string, tenantId: TenantId, partition: number): void => find(id, tenantId, partition)?.workWaits(),
    /** A delivery whose endpoint cannot live now becomes due when its lease ends. */
    handOver: (delivery: Handed, sinceMs: number): void => {
      const endpoint = find(delivery.endpoint, delivery.tenantId, delivery.partition)
      if (endpoint === null) return
      shares.add(delivery.tenantId)
      endpoint.handOver({ ...delivery, attemptNo: 1, sinceMs })
    },
    /**
     * Offers at most `places` events of a tenant, and the first of each lane. Endpoints without room for all of them
     * are closed.
     */
    offer: (events: ReadonlyArray<Happened>): Offer => {
      if (isClosing) return nothingOffered
      const offered = new Set<Happened["id"]>()
      const lanes = new Set<string>()
      /** The number of offered events by tenant; null: the tenant is not open. */
      const counts = new Map<TenantId, number | null>()
      for (const { id, lane, tenantId } of events) {
        if (lanes.has(lane)) continue
        lanes.add(lane)
        const known = counts.get(tenantId)
        const count = known === undefined ? (isOpen(tenantId) ? 0 : null) : known
        if (count !== null && count < places) offered.add(id)
        counts.set(tenantId, count === null ? null : Math.min(places, count + 1))
      }
      const closed: Array<string> = []
      for (const [tenantId, count] of counts)
        if (count !== null)
          for (const [id, endpoint] of byTenant.get(tenantId) ?? []) if (endpoint.freePlaces() < count) closed.push(id)
      return { events: offered, closed }
    },
    /** Stops the endpoints of a partition. Its new process repeats the attempts that it finds under way. */
    leave: (partition: number): void => {
      for (const [id, endpoint] of live)
        if (endpoint.partition === partition) {
          forget(id, endpoint)
          Option.getOrUndefined(FiberMap.getUnsafe(fibers, id))?.interruptUnsafe()
        }
    },
    close: (): void => {
      isClosing = true
    }
  }
})
