import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TrunkStates } from "../../../carrier/peer/TrunkStates.ts"
import * as TrunkNumberPlan from "../../../carrier/number/TrunkNumberPlan.ts"
import { type ConnectionView, planOf, Trunks } from "../../../numbers/trunk/Trunk.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import { E164, isE164 } from "../../../domain/E164.ts"
import type { RouteId, TenantId } from "../../../domain/Id.ts"
import * as IpAddress from "../../../domain/network/IpAddress.ts"
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
  readonly number_plan: unknown
  readonly created_at: number
}

const rows = Effect.fnUntraced(function* (of: { readonly tenantId: TenantId } | { readonly id: string }) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.orDie(
    sql<Row>`
    SELECT id, name, is_default, status, adapter, host, port, username, password IS NOT NULL AS has_password, max_calls,
      outbound_cps, inbound_cps, is_qualified, refuses_unreachable, number_plan, created_at
    FROM route WHERE ${"id" in of ? sql`id = ${of.id}` : sql`tenant_id = ${of.tenantId}`}
    ORDER BY route.created_at, id LIMIT 1000`.withoutTransform
  )
})

const encodePlan = Wire.encoder(Wire.struct(TrunkNumberPlan.TrunkNumberPlan.fields))

/** The plan of a row with the prefixes that are in effect; null: none was set. */
const shownPlan = (row: Row) => {
  const plan = planOf({ numberPlan: row.number_plan })
  if (plan === null) return null
  const { international, national } = TrunkNumberPlan.prefixesOf(plan)
  return encodePlan({ ...plan, nationalPrefix: national, internationalPrefix: international })
}

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
    number_plan: shownPlan(row),
    created_at: Timestamp.format(row.created_at)
  }
})

const routeOf = Effect.fnUntraced(function* (id: string) {
  const [row] = yield* rows({ id })
  return row ?? (yield* ApiError.of("not_found", `no route ${id}`))
})

/** Changes a route, and shows it as it is afterwards. */
const change = Effect.fnUntraced(function* (
  by: (trunks: Trunks["Service"]) => Effect.Effect<ConnectionView, ApiError>
) {
  const { id } = yield* by(yield* Trunks)
  return yield* view(yield* routeOf(id))
})

const ourAddress = "<our address>"

/** The parts of the INVITE that a call with these numbers would send to the trunk. */
const sentTo = (
  row: Row,
  plan: TrunkNumberPlan.TrunkNumberPlan,
  numbers: { readonly from: string; readonly to: string }
) => {
  const sent = TrunkNumberPlan.sent(plan, numbers)
  const domain = sent.domain ?? ourAddress
  return {
    request_uri: TrunkNumberPlan.uri(sent.called, `${IpAddress.host(row.host ?? "")}:${row.port ?? 5060}`),
    from: TrunkNumberPlan.uri(sent.from, domain),
    p_asserted_identity: TrunkNumberPlan.uri(sent.asserted, domain)
  }
}

/** How a trunk's number would be understood. */
const receivedAs = (
  plan: TrunkNumberPlan.TrunkNumberPlan,
  written: { readonly called: string; readonly caller: string }
) => ({
  ...written,
  to: TrunkNumberPlan.called(plan, written.called)[0] ?? null,
  from: TrunkNumberPlan.reported(plan, written.caller)
})

const id = Flag.argument("route-id", Schema.String, "the route, as route list shows it")
const username = Flag.optional(Schema.String, "the user name for the trunk's challenges", { flag: "user" })
const fromStdin = { "password-stdin": Files.stdin }
const asked = { flag: "options", words: Flag.onOff }
const asks = "whether OPTIONS ask if it answers"

/** A limit above the calls that the service has room for limits nothing. */
const Limit = Schema.NullOr(Flag.between(0, 100_000))
const Rate = Schema.NullOr(Flag.between(1, 10_000))

const plan = TrunkNumberPlan.TrunkNumberPlan.fields
const orNone = (text: string) => (text === "none" ? null : text)
const orDefault = (text: string) => (text === "default" ? null : text)

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
  Command.make("route numbers", {
    summary: "sets how the trunk writes numbers, and our names towards it; --none: as if nothing had been set",
    input: {
      id,
      country: Flag.optional(plan.country, "whose national form it uses, ISO 3166 alpha-2", { read: orNone }),
      nationalPrefix: Flag.optional(plan.nationalPrefix, "before national numbers; default: the country's", {
        read: (text) => (text === "none" ? "" : orDefault(text))
      }),
      internationalPrefix: Flag.optional(
        plan.internationalPrefix,
        "before international ones; default: the country's",
        {
          read: orDefault
        }
      ),
      techPrefix: Flag.optional(plan.techPrefix, "before every called number", { read: orNone }),
      sends: Flag.optional(plan.sends, "what is sent", { flag: "send" }),
      caller: Flag.optional(plan.caller, "the header that is asked first for the caller"),
      fromUser: Flag.optional(plan.fromUser, "the user of From; none: the calling number", { read: orNone }),
      assertedUser: Flag.optional(plan.assertedUser, "the user of P-Asserted-Identity; none: the calling number", {
        read: orNone
      }),
      fromDomain: Flag.optional(plan.fromDomain, "the domain of both; none: our address", { read: orNone }),
      isRemoved: Flag.on("removes the plan", { flag: "none" })
    },
    run: Effect.fnUntraced(function* ({ id, isRemoved, ...fields }) {
      if (isRemoved && Object.keys(fields).length > 0)
        return yield* ApiError.of("invalid_request", "--none goes with no other flag")
      return yield* change((trunks) => trunks.setNumbers(id, isRemoved ? null : fields))
    })
  }),
  Command.make("route try", {
    summary: "shows what a call to +1… would send to the trunk, and how 0414… from it would be understood",
    input: {
      id,
      number: Flag.argument("number", Flag.text(64), "E.164, or what the trunk writes"),
      from: Flag.optional(E164, "our number in a call; the same number unless given")
    },
    run: Effect.fnUntraced(function* ({ from, id, number }) {
      const row = yield* routeOf(id)
      if (row.adapter !== "sip") return yield* ApiError.of("unprocessable", "only a SIP trunk has a number plan")
      const plan = planOf({ numberPlan: row.number_plan }) ?? TrunkNumberPlan.none
      if (!isE164(number)) return { sent: null, received: receivedAs(plan, { called: number, caller: number }) }
      const numbers = { from: from ?? number, to: number }
      const { called, caller } = TrunkNumberPlan.sent(plan, numbers)
      return { sent: sentTo(row, plan, numbers), received: receivedAs(plan, { called, caller }) }
    })
  }),
  Command.make("route remove", {
    summary: "removes a route that no number, order or subscription names, and that is no default",
    input: { id },
    run: ({ id }) => Trunks.use((trunks) => trunks.remove(id))
  })
]
