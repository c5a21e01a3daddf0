import { Cache, Clock, Context, Effect, Layer } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { RouteDirectory, type SipTrunk } from "../../carrier/Carrier.ts"
import type { TrunkNumberPlan } from "../../carrier/number/TrunkNumberPlan.ts"
import { TrunkStates } from "../../carrier/peer/TrunkStates.ts"
import * as Id from "../../domain/Id.ts"
import * as IpAddress from "../../domain/network/IpAddress.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { ApiError } from "../../domain/ApiError.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import * as RowCache from "../../runtime/store/list/RowCache.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { Vault } from "../../runtime/store/vault/Vault.ts"
import {
  type ConnectionView,
  defaultSettings,
  limitsOf,
  planOf,
  type RouteRow,
  type TrunkSettings,
  view
} from "./ConnectionView.ts"
import * as KnownPeers from "./KnownPeers.ts"
import * as RouteRepo from "./RouteRepo.ts"
import * as TrunkChanges from "./TrunkChanges.ts"
import * as TrunkCapacity from "./TrunkCapacity.ts"

export { type ConnectionView, Connection, planOf } from "./ConnectionView.ts"

/** A trunk at the address that a call came from, with its number plan; null: the operator set none. */
export interface TrunkAt {
  readonly routeId: Id.RouteId
  readonly plan: TrunkNumberPlan | null
}

/** The adapter that a call goes through. */
interface Route {
  readonly routeId: Id.RouteId
  readonly adapter: string
}

/** A SIP trunk as the operator gives it. */
interface NewSipTrunk {
  readonly tenantId: Id.TenantId
  /** 1 to 120 characters. */
  readonly name: string
  /** An IPv4 or IPv6 address without brackets, or a DNS name. */
  readonly host: string
  readonly port: number
  readonly username: string | null
  readonly password: string | null
  /** The trunk becomes the tenant's default in place of the previous one. */
  readonly isDefault: boolean
  /** Whether OPTIONS requests check that the trunk answers. Default: true. */
  readonly isQualified?: boolean
}

/** A call that wants to begin. */
interface Entering {
  readonly tenantId: Id.TenantId
  readonly routeId: Id.RouteId
  readonly occupant: TrunkCapacity.Occupant
  readonly direction: "inbound" | "outbound"
}

/** The capacity of each cache: routes, trunks, routes by address, and number plans by address. */
const remembered = 10_000

/** The most number plans at one address that are tried for a called number. */
const mostPlans = 64

const numbersOf = (row: RouteRow): Pick<SipTrunk, "numbers"> => {
  const plan = planOf(row)
  return plan === null ? {} : { numbers: plan }
}

const notFound = ApiError.of("not_found", "no such connection")
const noRoute = ApiError.of("not_found", "route_id names no connection of this workspace", "route_id")

/**
 * Connections, guide/connections.md#routes: a route (`svc_route_…`) names an adapter and its configuration. Each tenant
 * has a default route, which from signup is the simulator's.
 *
 * Also answers the carriers (`RouteDirectory`): trunks by route, from memory, and the table of known peers. A change by
 * this process is seen at once, a change by another process within seconds.
 */
export class Trunks extends Context.Service<
  Trunks,
  {
    readonly list: (tenantId: Id.TenantId, window: Listing.Window) => Effect.Effect<Listing.Page<ConnectionView>>
    readonly find: (tenantId: Id.TenantId, id: Id.RouteId) => Effect.Effect<ConnectionView, ApiError>
    /** Makes the simulator a new tenant's default route, inside signup's transaction. */
    readonly createDefaultWithin: (tenant: {
      readonly id: Id.TenantId
      readonly at: number
      readonly seed: string
    }) => Effect.Effect<{ readonly routeId: Id.RouteId }>
    readonly addSipTrunk: (trunk: NewSipTrunk) => Effect.Effect<ConnectionView, ApiError>
    /** Changes the status for the operator; `not_found` for an unknown route. All processes follow within seconds. */
    readonly setStatus: (id: string, status: "active" | "disabled") => Effect.Effect<ConnectionView, ApiError>
    readonly makeDefault: (id: string) => Effect.Effect<ConnectionView, ApiError>
    readonly setPassword: (id: string, password: TrunkChanges.NewPassword) => Effect.Effect<ConnectionView, ApiError>
    readonly setLimits: (id: string, settings: Partial<TrunkSettings>) => Effect.Effect<ConnectionView, ApiError>
    /**
     * Fails with 409 `conflict` while a number, an order, a subscription or the default of the tenant names the route.
     */
    readonly remove: (id: string) => Effect.Effect<ConnectionView, ApiError>
    /**
     * Lets a call in at its route, or refuses it (guide/connections.md#limits): 403 `concurrent_call_cap_exceeded`, 429
     * `rate_limited`, 503 while a trunk that then refuses calls does not answer. Every call that was let in has to
     * `leave`.
     */
    readonly enter: (call: Entering) => Effect.Effect<void, ApiError>
    /** Counts a live call, or another leg of one, that an earlier process let in. */
    readonly resume: (occupant: TrunkCapacity.Occupant, routeId: Id.RouteId) => Effect.Effect<void>
    /** Ends the count of a call that has ended, or that never began. */
    readonly leave: (occupant: TrunkCapacity.Occupant) => Effect.Effect<void>
    /** The live calls of each route that has any. */
    readonly liveCalls: Effect.Effect<ReadonlyMap<Id.RouteId, number>>
    /** Changes these fields of a trunk's number plan; null removes the plan. */
    readonly setNumbers: (
      id: string,
      fields: Partial<TrunkNumberPlan> | null
    ) => Effect.Effect<ConnectionView, ApiError>
    /** The tenant's oldest active trunk at this address of a known peer; null when it has none there. */
    readonly trunkAt: (tenantId: Id.TenantId, address: string) => Effect.Effect<TrunkAt | null>
    /**
     * The number plans of all trunks at this address of a known peer, each once, that of the oldest trunk first. At
     * most 64, which no carrier needs.
     */
    readonly plansAt: (address: string) => Effect.Effect<ReadonlyArray<TrunkNumberPlan>>
    /**
     * Resolves a route id, or the tenant's default for null. Fails with 400 for a malformed id, 404 when the route is
     * unknown or of another tenant, 422 when it is disabled.
     */
    readonly resolve: (tenantId: Id.TenantId, routeId: Id.RouteId | null) => Effect.Effect<Route, ApiError>
  }
>()("trunkline/numbers/Trunks") {
  /** `lookup` gives the addresses of a DNS name, none when it cannot be resolved. */
  static readonly layer = (options: { readonly lookup: (name: string) => Effect.Effect<ReadonlyArray<string>> }) =>
    Layer.effectContext(
      Effect.gen(function* () {
        const { transaction } = yield* Sql.make
        const journal = yield* Journal
        const entropy = yield* Entropy
        const vault = yield* Vault
        const repo = yield* RouteRepo.make
        const states = yield* TrunkStates
        const capacity = TrunkCapacity.make()

        const routes = yield* RowCache.make({
          capacity: remembered,
          lookup: (key: string) => {
            const [tenant = "", route = ""] = key.split(" ")
            const tenantId = Id.TenantId.make(tenant)
            return route === "" ? repo.findDefault(tenantId) : repo.find(tenantId, Id.RouteId.make(route))
          }
        })

        const trunkOf = (row: RouteRow): SipTrunk => ({
          routeId: row.id,
          host: row.host ?? "",
          port: row.port ?? 5060,
          transport: "udp",
          username: row.username,
          password: row.password === null ? null : vault.open(row.password),
          ...numbersOf(row)
        })
        const trunks = yield* RowCache.make({
          capacity: remembered,
          lookup: (routeId: Id.RouteId) =>
            Effect.map(repo.sipById(routeId), (row) => (row === null ? null : trunkOf(row)))
        })
        const routesAt = yield* RowCache.make({
          capacity: remembered,
          lookup: (key: string): Effect.Effect<RouteRow | null> => {
            const [tenantId = "", address = ""] = key.split(" ")
            return repo.sipAt(Id.TenantId.make(tenantId), peers.hostsAt(address))
          }
        })
        const plans = yield* RowCache.make({
          capacity: remembered,
          lookup: (address: string): Effect.Effect<ReadonlyArray<TrunkNumberPlan>> =>
            Effect.map(repo.plansAt(peers.hostsAt(address), mostPlans), (rows) =>
              rows.flatMap((row) => planOf(row) ?? [])
            )
        })
        const peers = yield* KnownPeers.make({
          life: repo.peerTableLife,
          changedSince: repo.hostsSince,
          lookup: options.lookup,
          onChange: Effect.suspend(() =>
            Effect.all([
              Cache.invalidateAll(routes),
              Cache.invalidateAll(trunks),
              Cache.invalidateAll(routesAt),
              Cache.invalidateAll(plans)
            ])
          ).pipe(Effect.asVoid)
        })

        const resolve = Effect.fnUntraced(function* (tenantId: Id.TenantId, routeId: Id.RouteId | null) {
          if (routeId !== null && !Id.hasPrefix("route", routeId))
            return yield* ApiError.of("invalid_request", "route_id must be a svc_route_ id", "route_id")
          if (routeId !== null && !Id.is("route", routeId)) return yield* noRoute
          const row = yield* Cache.get(routes, `${tenantId} ${routeId ?? ""}`)
          if (row === null) return yield* noRoute
          if (row.status !== "active")
            return yield* ApiError.of("unprocessable", "the connection is disabled", "route_id")
          return { routeId: row.id, adapter: row.adapter }
        })

        const createDefaultWithin = Effect.fn("Connections.createDefaultWithin")(function* (tenant: {
          readonly id: Id.TenantId
          readonly at: number
          readonly seed: string
        }) {
          const routeId = Id.derive(tenant.seed, "route")
          yield* repo.insert({
            id: routeId,
            tenantId: tenant.id,
            name: "Simulated phones",
            isDefault: true,
            status: "active",
            adapter: "simulator",
            host: null,
            port: null,
            username: null,
            password: null,
            numberPlan: null,
            ...defaultSettings,
            createdAt: tenant.at
          })
          return { routeId }
        })

        const addSipTrunk = Effect.fn("Connections.addSipTrunk")(function* (trunk: NewSipTrunk) {
          const host = IpAddress.canonical(trunk.host) ?? trunk.host.toLowerCase()
          const fault = faultOf({ ...trunk, host })
          if (fault !== null) return yield* ApiError.of("invalid_request", fault)
          if ((yield* repo.findDefault(trunk.tenantId)) === null)
            return yield* ApiError.of("not_found", "no such tenant")
          const at = yield* Clock.currentTimeMillis
          const seed = entropy.hex(16)
          const row: RouteRow = {
            id: Id.derive(seed, "route"),
            tenantId: trunk.tenantId,
            name: trunk.name,
            isDefault: trunk.isDefault,
            status: "active",
            adapter: "sip",
            host,
            port: trunk.port,
            username: trunk.username,
            password: trunk.password === null ? null : vault.seal(trunk.password),
            numberPlan: null,
            ...defaultSettings,
            isQualified: trunk.isQualified ?? defaultSettings.isQualified,
            createdAt: at
          }
          const line = Audit.line({
            tenantId: trunk.tenantId,
            at,
            seed,
            actor: yield* Audit.operator,
            action: "connection.created",
            resourceId: row.id,
            changes: [{ field: "is_default", from: null, to: row.isDefault }]
          })
          yield* Effect.gen(function* () {
            if (row.isDefault) yield* repo.clearDefault(row.tenantId)
            yield* repo.insert(row)
            yield* journal.commitWithin({ ...empty, audit: [line] })
          }).pipe(transaction)
          yield* changed(row)
          return view(row)
        })

        /** This process follows at once, because a call from there may come as soon as the change is answered. */
        const changed = Effect.fnUntraced(function* (row: RouteRow) {
          yield* Cache.invalidate(routes, `${row.tenantId} `)
          yield* Cache.invalidate(routes, `${row.tenantId} ${row.id}`)
          yield* Cache.invalidate(trunks, row.id)
          yield* Cache.invalidateAll(routesAt)
          yield* Cache.invalidateAll(plans)
          if (row.host !== null) yield* peers.refresh(row.host)
        })
        const changes = yield* TrunkChanges.make({ repo, changed })

        const enter = Effect.fnUntraced(function* (call: Entering) {
          const row = yield* Cache.get(routes, `${call.tenantId} ${call.routeId}`)
          if (row === null) return yield* noRoute
          if (row.refusesUnreachable && call.direction === "outbound" && states.of(row.id)?.state === "unreachable")
            return yield* ApiError.of("service_unavailable", "the trunk of this connection does not answer; try again")
          const limits = limitsOf(row, call.direction)
          switch (capacity.enter(call, limits, yield* Monotonic.now)) {
            case "in":
              return
            case "calls":
              return yield* ApiError.of(
                "concurrent_call_cap_exceeded",
                `the connection has its ${limits.maxCalls} calls`,
                "route_id"
              )
            case "rate":
              return yield* ApiError.of(
                "rate_limited",
                "the connection takes no more new calls this second",
                "route_id"
              )
          }
        })

        const connections = Trunks.of({
          list: repo.list,
          find: Effect.fn("Connections.find")(function* (tenantId, id) {
            const row = yield* repo.find(tenantId, id)
            return row === null ? yield* notFound : view(row)
          }),
          createDefaultWithin,
          addSipTrunk,
          setStatus: (id, status) => Effect.map(changes.setStatus(id, status), view),
          makeDefault: (id) => Effect.map(changes.makeDefault(id), view),
          setPassword: (id, password) => Effect.map(changes.setPassword(id, password), view),
          setLimits: (id, settings) => Effect.map(changes.setLimits(id, settings), view),
          setNumbers: (id, fields) => Effect.map(changes.setNumbers(id, fields), view),
          remove: (id) => Effect.map(changes.remove(id), view),
          resolve,
          enter,
          resume: (occupant, routeId) => Effect.sync(() => capacity.resume(occupant, routeId)),
          leave: (occupant) => Effect.sync(() => capacity.leave(occupant)),
          liveCalls: Effect.sync(capacity.counts),
          trunkAt: (tenantId, address) =>
            Effect.map(Cache.get(routesAt, `${tenantId} ${address}`), (row) =>
              row === null ? null : { routeId: row.id, plan: planOf(row) }
            ),
          plansAt: (address) => Cache.get(plans, address)
        })
        const directory = RouteDirectory.of({
          sipTrunk: (routeId) => Cache.get(trunks, routeId),
          qualified: (after, limit) =>
            Effect.map(repo.qualifiedAfter(after, limit), (rows) =>
              // An OPTIONS request needs no password, and opening thousands of them takes time.
              rows.map((row) => trunkOf({ ...row, password: null }))
            ),
          knownPeers: peers.listen
        })
        return Context.make(Trunks, connections).pipe(Context.add(RouteDirectory, directory))
      })
    )
}

/** RFC 1123 section 2.1 labels. */
const dnsName = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/

const faultOf = (trunk: NewSipTrunk): string | null => {
  if (trunk.name.length < 1 || trunk.name.length > 120) return "name must be 1 to 120 characters"
  const isName = dnsName.test(trunk.host) && !/^[0-9.]+$/.test(trunk.host)
  if (IpAddress.canonical(trunk.host) === null && !isName)
    return `host must be an IP address or a DNS name, not "${trunk.host}"`
  if (!Number.isInteger(trunk.port) || trunk.port < 1 || trunk.port > 65_535) return "port must be 1 to 65535"
  if (trunk.password !== null && trunk.username === null) return "a password needs a user name"
  return null
}
