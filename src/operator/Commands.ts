import { readFile } from "node:fs/promises"
import { text as readAll } from "node:stream/consumers"
import { type Arguments, type Options, UsageError } from "./Arguments.ts"
import type { CallTimeline } from "./CallTimeline.ts"
import * as CallTimelineText from "./CallTimelineText.ts"
import { fields, table } from "./TextTable.ts"

/** A command of the operator: what it takes, what it asks the service, and how the answer reads. */
export interface Command {
  /** The words that name it, e.g. `tenant credit`. */
  readonly words: string
  readonly does: string
  readonly positionals: ReadonlyArray<string>
  readonly options: Options
  /** Behind the positionals in its usage line. */
  readonly usage: string
  /** Path behind `/operator/` (see `Operation.ts`). */
  readonly operation: string
  /** Undefined fields are not sent. */
  readonly body: (args: Arguments) => unknown
  readonly print: (answer: never, args: Arguments) => string
  /** False: the answer shows something wrong, and the exit code says so. */
  readonly isSound?: (answer: never) => boolean
}

type Row = Readonly<Record<string, unknown>>
interface Rows {
  readonly results: ReadonlyArray<Row>
}

const rowsOf =
  (...columns: ReadonlyArray<string>) =>
  ({ results }: Rows) =>
    table(columns, results)
const asFields = (answer: Row) => fields(answer)

/** `-` is standard input. */
const file = async (path: string): Promise<string> => {
  try {
    return path === "-" ? await readAll(process.stdin) : await readFile(path, "utf8")
  } catch (cause) {
    throw new UsageError(`cannot read ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** `--password` shows in the process list; from standard input it does not. */
const password = async (args: Arguments): Promise<string | undefined> => {
  const given = args.text("password")
  if (!args.flag("password-stdin")) return given
  if (given !== undefined) throw new UsageError("--password and --password-stdin exclude each other")
  return (await readAll(process.stdin)).replace(/\r?\n$/, "")
}

const oneTenant = { positionals: ["id|slug"], options: {}, usage: "" } as const
const tenant = (args: Arguments) => args.positional("id|slug")

const dialingPermission = (
  kind: "block-country" | "allow-country" | "block-prefix",
  does: string,
  positional: string
): Command => ({
  words: `destinations ${kind}`,
  does,
  positionals: [positional],
  options: { tenant: "value" },
  usage: "[--tenant ID|SLUG]",
  operation: `destinations/${kind}`,
  body: (args) => ({ value: args.positional(positional), tenant: args.text("tenant") }),
  print: asFields
})

export const commands: ReadonlyArray<Command> = [
  {
    words: "route add",
    does: "adds a SIP trunk; --default makes it the tenant's default route",
    positionals: [],
    options: {
      tenant: "value",
      name: "value",
      host: "value",
      port: "value",
      user: "value",
      password: "value",
      "password-stdin": "flag",
      default: "flag"
    },
    usage:
      "--tenant ID|SLUG --name NAME --host HOST [--port 5060] [--user USER --password PASSWORD|--password-stdin] [--default]",
    operation: "route/add",
    body: async (args) => ({
      tenant: args.required("tenant"),
      name: args.required("name"),
      host: args.required("host"),
      port: args.integer("port"),
      username: args.text("user"),
      password: await password(args),
      is_default: args.flag("default")
    }),
    print: asFields
  },
  {
    words: "route list",
    does: "lists the routes of a tenant",
    positionals: [],
    options: { tenant: "value" },
    usage: "--tenant ID|SLUG",
    operation: "route/list",
    body: (args) => ({ tenant: args.required("tenant") }),
    print: rowsOf("id", "name", "adapter", "host", "port", "username", "is_default", "status")
  },
  {
    words: "tenant list",
    does: "lists the newest 1,000 tenants",
    positionals: [],
    options: {},
    usage: "",
    operation: "tenant/list",
    body: () => ({}),
    print: rowsOf("id", "slug", "status", "suspension_reason", "created_at", "name")
  },
  {
    words: "tenant show",
    does: "shows status, balance, quota and what is going on",
    ...oneTenant,
    operation: "tenant/show",
    body: (args) => ({ tenant: tenant(args) }),
    print: asFields
  },
  {
    words: "tenant credit",
    does: "gives (or with a negative number takes) money: a ledger entry of type adjustment",
    positionals: ["id|slug"],
    options: { cents: "value", reason: "value" },
    usage: "--cents N --reason TEXT",
    operation: "tenant/credit",
    body: (args) => {
      const cents = args.integer("cents")
      if (cents === undefined) throw new UsageError("--cents is missing")
      return { tenant: tenant(args), cents, reason: args.required("reason") }
    },
    print: asFields
  },
  {
    words: "tenant quota",
    does: "sets spend caps (cents; none: no cap), concurrent calls, caller-id forwarding, credit limit (cents)",
    positionals: ["id|slug"],
    options: { daily: "value", monthly: "value", concurrent: "value", forwarding: "value", "credit-limit": "value" },
    usage: "[--daily N|none] [--monthly N|none] [--concurrent N] [--forwarding on|off] [--credit-limit N]",
    operation: "tenant/quota",
    body: (args) => ({
      tenant: tenant(args),
      daily_spend_cap_cents: args.integerOrNone("daily"),
      monthly_spend_cap_cents: args.integerOrNone("monthly"),
      concurrent_call_limit: args.integer("concurrent"),
      allow_caller_id_forwarding: args.onOff("forwarding"),
      credit_limit_cents: args.integer("credit-limit")
    }),
    print: asFields
  },
  {
    words: "tenant suspend",
    does: "refuses new requests and calls; running calls finish",
    positionals: ["id|slug"],
    options: { reason: "value" },
    usage: "[--reason operator|fraud_review]",
    operation: "tenant/suspend",
    body: (args) => ({ tenant: tenant(args), reason: args.text("reason") }),
    print: asFields
  },
  {
    words: "tenant reactivate",
    does: "lifts a suspension, whatever its reason",
    ...oneTenant,
    operation: "tenant/reactivate",
    body: (args) => ({ tenant: tenant(args) }),
    print: asFields
  },
  {
    words: "tenant close",
    does: "closes for good, and ends the live calls",
    ...oneTenant,
    operation: "tenant/close",
    body: (args) => ({ tenant: tenant(args) }),
    print: asFields
  },
  {
    words: "numbers import",
    does:
      "adds numbers to the inventory from CSV, all or none: phone_number,country_code,number_type,national_destination_code," +
      "region,locality,rate_center,features,upfront_cost_cents,monthly_cost_cents",
    positionals: ["csv"],
    options: {},
    usage: "",
    operation: "numbers/import",
    body: async (args) => ({ csv: await file(args.positional("csv")) }),
    print: asFields
  },
  {
    words: "rates import",
    does: "replaces the rate deck from CSV, all or none: direction,prefix,micro_usd_per_minute",
    positionals: ["csv"],
    options: {},
    usage: "",
    operation: "rates/import",
    body: async (args) => ({ csv: await file(args.positional("csv")) }),
    print: asFields
  },
  {
    words: "rates list",
    does: "shows the rate deck",
    positionals: [],
    options: {},
    usage: "",
    operation: "rates/list",
    body: () => ({}),
    print: rowsOf("direction", "prefix", "micro_usd_per_minute")
  },
  dialingPermission(
    "block-country",
    "refuses calls to a country (ISO 3166 code), for all tenants or for one",
    "country"
  ),
  dialingPermission("allow-country", "refuses calls to every country but those allowed", "country"),
  dialingPermission("block-prefix", "refuses calls to numbers that begin so (E.164 with its +)", "prefix"),
  {
    words: "destinations remove",
    does: "takes one rule away",
    positionals: ["id"],
    options: {},
    usage: "",
    operation: "destinations/remove",
    body: (args) => ({ id: args.positional("id") }),
    print: asFields
  },
  {
    words: "destinations list",
    does: "lists the rules; with a tenant, those that hold for it",
    positionals: [],
    options: { tenant: "value" },
    usage: "[--tenant ID|SLUG]",
    operation: "destinations/list",
    body: (args) => ({ tenant: args.text("tenant") }),
    print: rowsOf("id", "kind", "value", "tenant_id")
  },
  {
    words: "simulate-inbound",
    does: "a simulated phone calls a number of a tenant",
    positionals: [],
    options: { from: "value", to: "value" },
    usage: "--from +E164 --to +E164",
    operation: "simulate-inbound",
    body: (args) => ({ from: args.required("from"), to: args.required("to") }),
    print: asFields,
    isSound: ({ admitted }: { readonly admitted: boolean }) => admitted
  },
  {
    words: "job list",
    does: "counts what is due, running and failed of each kind of background work",
    positionals: [],
    options: {},
    usage: "",
    operation: "job/list",
    body: () => ({}),
    print: rowsOf("kind", "due", "running", "failed", "oldest_due_seconds")
  },
  {
    words: "job failed",
    does: "lists the last 1,000 jobs that have failed for good",
    positionals: [],
    options: {},
    usage: "",
    operation: "job/failed",
    body: () => ({}),
    print: rowsOf("kind", "key", "tenant_id", "attempts", "failed_at", "error")
  },
  {
    words: "job retry",
    does: "tries a failed job again",
    positionals: ["kind", "key"],
    options: {},
    usage: "",
    operation: "job/retry",
    body: (args) => ({ kind: args.positional("kind"), key: args.positional("key") }),
    print: asFields
  },
  {
    words: "call show",
    does: "the call's inputs, states, events and deliveries as a timeline, replayed from its journal",
    positionals: ["id"],
    options: { states: "flag" },
    usage: "[--states]",
    operation: "call/show",
    body: (args) => ({ call_id: args.positional("id") }),
    print: (timeline: CallTimeline, args) => CallTimelineText.render(timeline, { states: args.flag("states") }),
    isSound: ({ agrees }: CallTimeline) => agrees
  },
  {
    words: "call list",
    does: "lists the newest calls of a tenant",
    positionals: [],
    options: { tenant: "value", status: "value", from: "value", to: "value", limit: "value" },
    usage: "--tenant ID|SLUG [--status STATUS] [--from +E164] [--to +E164] [--limit 50]",
    operation: "call/list",
    body: (args) => ({
      tenant: args.required("tenant"),
      status: args.text("status"),
      from: args.text("from"),
      to: args.text("to"),
      limit: args.integer("limit")
    }),
    print: rowsOf(
      "id",
      "direction",
      "from",
      "to",
      "status",
      "end_reason",
      "duration_seconds",
      "cost_cents",
      "initiated_at"
    )
  }
]
