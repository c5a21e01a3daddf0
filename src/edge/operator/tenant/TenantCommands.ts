import { UsageError } from "../command/Arguments.ts"
import * as EndedCalls from "../call/EndedCalls.ts"
import { asFields, type Command, oneTenant, rowsOf, tenant } from "../command/Command.ts"
import * as PayoutView from "./PayoutView.ts"

export const commands: ReadonlyArray<Command> = [
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
    does: "sets spend caps (cents; none: no cap), concurrent calls, webhook subscriptions, caller-id forwarding, credit limit (cents)",
    positionals: ["id|slug"],
    options: {
      daily: "value",
      monthly: "value",
      concurrent: "value",
      subscriptions: "value",
      forwarding: "value",
      "credit-limit": "value"
    },
    usage:
      "[--daily N|none] [--monthly N|none] [--concurrent N] [--subscriptions N] [--forwarding on|off] [--credit-limit N]",
    operation: "tenant/quota",
    body: (args) => ({
      tenant: tenant(args),
      daily_spend_cap_cents: args.integerOrNone("daily"),
      monthly_spend_cap_cents: args.integerOrNone("monthly"),
      concurrent_call_limit: args.integer("concurrent"),
      webhook_subscription_limit: args.integer("subscriptions"),
      allow_caller_id_forwarding: args.onOff("forwarding"),
      credit_limit_cents: args.integer("credit-limit")
    }),
    print: asFields
  },
  {
    words: "tenant suspend",
    does: "refuses new requests and calls; running calls finish, or end with --end-calls",
    positionals: ["id|slug"],
    options: { reason: "value", "end-calls": "flag" },
    usage: "[--reason operator|fraud_review] [--end-calls]",
    operation: "tenant/suspend",
    body: (args) => ({ tenant: tenant(args), reason: args.text("reason"), end_calls: args.flag("end-calls") }),
    print: asFields,
    isSound: EndedCalls.areOver
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
    does: "closes for good, ends the live calls, and erases recordings and transcripts after 30 days (0: at once)",
    positionals: ["id|slug"],
    options: { "erase-after": "value", refund: "flag" },
    usage: "[--erase-after DAYS] [--refund]",
    operation: "tenant/close",
    body: (args) => ({
      tenant: tenant(args),
      erase_after_days: args.integer("erase-after"),
      refund: args.flag("refund")
    }),
    print: asFields,
    isSound: EndedCalls.areOver
  },
  {
    words: "tenant payout",
    does: "refunds what is left of a closed tenant's balance to its cards, the newest top-up first, and shows what became of it",
    ...oneTenant,
    operation: "tenant/payout",
    body: (args) => ({ tenant: tenant(args) }),
    print: asFields,
    isSound: PayoutView.isSound
  },
  {
    words: "tenant export",
    does: "writes all that a tenant has, as it is at this moment, into a new file of JSON lines (gzip), without secrets",
    positionals: ["id|slug", "file"],
    options: {},
    usage: "",
    operation: "tenant/export",
    body: (args) => ({ tenant: tenant(args) }),
    savesTo: (args) => args.positional("file"),
    print: (answer: { readonly file: string; readonly bytes: number }) => `${answer.file}: ${answer.bytes} bytes`
  }
]
