import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TrunkStates } from "../../../carrier/peer/TrunkStates.ts"
import { type ConnectionView, Trunks } from "../../../numbers/trunk/Trunk.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { RouteId, TenantId } from "../../../domain/Id.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as Files from "../command/Files.ts"
import * as TenantReference from "../tenant/TenantReference.ts"

/** A route with its configuration, which the tenant does not see, and without the password. */
interface Row {
  readonly id: RouteId
  readonly name: string
  readonly is_default: boolean
  readonly status: string
  readonly adapter: string
  readonly host: string | null
  readonly port: number | null
  readonly username: string | null
  readonly has_password: boolean
  readonly max_calls: number | null
  readonly outbound_cps: number | null
  readonly inbound_cps: number | null
  readonly is_qualified: boolean
  readonly refuses_unreachable: boolean
  readonly created_at: number
}

const rows = Effect.fnUntraced(function* (of: { readonly tenantId: TenantId } | { readonly id: string }) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.orDie(
    sql<Row>`
    SELECT id, name, is_default, status, adapter, host, port, username, password IS NOT NULL AS has_password, max_calls,
      outbound_cps, inbound_cps, is_qualified, refuses_unreachable, created_at
    FROM route WHERE ${"id" in of ? sql`id = ${of.id}` : sql`tenant_id = ${of.tenantId}`}
    ORDER BY route.created_at, id LIMIT 1000`.withoutTransform
  )
})

/** The row with what the carrier knows about it: its state is unknown while it is not asked by OPTIONS. */
const view = Effect.fnUntraced(function* (row: Row) {
  const state = (yield* TrunkStates).of(row.id)
  const calls = yield* (yield* Trunks).liveCalls
  return {
    ...row,
    state: state?.state ?? "unknown",
    state_since: state === null ? null : Timestamp.format(state.since),
    rtt_ms: state === null || state.rttMs === null ? null : Math.round(state.rttMs * 10) / 10,
    last_status: state?.lastStatus ?? null,
    live_calls: calls.get(row.id) ?? 0,
    created_at: Timestamp.format(row.created_at)
  }
})

/** Changes a route, and shows it as it is afterwards. */
const change = Effect.fnUntraced(function* (
  by: (trunks: Trunks["Service"]) => Effect.Effect<ConnectionView, ApiError>
) {
  const { id } = yield* by(yield* Trunks)
  const [row] = yield* rows({ id })
  return row === undefined ? yield* ApiError.of("not_found", `no route ${id}`) : yield* view(row)
})

const id = Flag.argument("route-id", Schema.String, "the route, as route list shows it")
const username = Flag.optional(Schema.String, "the user name for the trunk's challenges", { flag: "user" })
const fromStdin = { "password-stdin": Files.stdin }
const asked = { flag: "options", words: Flag.onOff }
const asks = "whether OPTIONS ask if it answers"

/** A limit above the calls that the service has room for limits nothing. */
const Limit = Schema.NullOr(Flag.between(0, 100_000))
const Rate = Schema.NullOr(Flag.between(1, 10_000))

export const commands = [
  Command.make("route add", {
    summary: "adds a SIP trunk; --default makes it the tenant's default route",
    input: {
      tenant: TenantReference.required,
      name: Flag.of(Flag.name(120), "the name that the tenant sees"),
      host: Flag.of(Schema.String, "an IP address or a DNS name"),
      port: Flag.of(Wire.absentIs(5060, Schema.Int), "the port of SIP, 5060 unless given"),
      username,
      password: Flag.optional(Schema.String, "the password for the trunk's challenges", { instead: fromStdin }),
      isQualified: Flag.of(Wire.absentIs(true, Schema.Boolean), asks, asked),
      isDefault: Flag.on("makes it the default route of its tenant", { flag: "default" })
    },
    run: TenantReference.within((tenantId, { password = null, username = null, ...trunk }) =>
      Trunks.use((trunks) => trunks.addSipTrunk({ tenantId, ...trunk, username, password }))
    )
  }),
  Command.make("route list", {
    summary: "lists the routes of a tenant: state (by OPTIONS), round trip, live calls, limits",
    input: { tenant: TenantReference.required },
    columns:
      "id name adapter host port username is_default status state state_since rtt_ms last_status live_calls max_calls " +
      "outbound_cps inbound_cps",
    run: TenantReference.within(
      Effect.fnUntraced(function* (tenantId) {
        return { results: yield* Effect.forEach(yield* rows({ tenantId }), view) }
      })
    )
  }),
  Command.make("route disable", {
    summary: "takes no calls by it any more, and none from its address; live calls go on",
    input: { id },
    run: ({ id }) => change((trunks) => trunks.setStatus(id, "disabled"))
  }),
  Command.make("route enable", {
    summary: "takes calls again",
    input: { id },
    run: ({ id }) => change((trunks) => trunks.setStatus(id, "active"))
  }),
  Command.make("route default", {
    summary: "makes it the default route of its tenant",
    input: { id },
    run: ({ id }) => change((trunks) => trunks.makeDefault(id))
  }),
  Command.make("route password", {
    summary: "changes what the trunk's challenges are answered with; --none: nothing any more",
    input: {
      id,
      username,
      password: Flag.of(Schema.NullOr(Schema.String), "the new password", {
        instead: { ...fromStdin, none: () => null }
      })
    },
    run: ({ id, ...digest }) => change((trunks) => trunks.setPassword(id, digest))
  }),
  Command.make("route limits", {
    summary:
      "sets calls at once, new calls a second each way, OPTIONS, and what calls get while it does not answer them",
    input: {
      id,
      maxCalls: Flag.optional(Limit, "calls at once", { flag: "calls", none: "default" }),
      outboundCps: Flag.optional(Rate, "new calls a second to it"),
      inboundCps: Flag.optional(Rate, "new calls a second from it", { none: "default" }),
      isQualified: Flag.optional(Schema.Boolean, asks, asked),
      refusesUnreachable: Flag.optional(Schema.Boolean, "what calls do while it does not answer OPTIONS", {
        flag: "unreachable",
        words: { try: false, refuse: true }
      })
    },
    run: ({ id, ...settings }) => change((trunks) => trunks.setLimits(id, settings))
  }),
  Command.make("route remove", {
    summary: "removes a route that no number, order or subscription names, and that is no default",
    input: { id },
    run: ({ id }) => Trunks.use((trunks) => trunks.remove(id))
  })
]
