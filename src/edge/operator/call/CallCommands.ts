import { UsageError } from "../command/Arguments.ts"
import { asFields, type Command, rowsOf } from "../command/Command.ts"
import type { CallTimeline } from "./CallTimeline.ts"
import * as EndedCalls from "./EndedCalls.ts"
import * as CallTimelineText from "./CallTimelineText.ts"

export const commands: ReadonlyArray<Command> = [
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
    words: "call hangup",
    does: "ends a call, or with --tenant all live calls of a tenant",
    positionals: [],
    options: { tenant: "value" },
    optional: ["id"],
    usage: "<id> | --tenant ID|SLUG",
    operation: "call/hangup",
    body: (args) => {
      const [id, tenant] = [args.optional("id"), args.text("tenant")]
      if ((id === undefined) === (tenant === undefined))
        throw new UsageError("either the id of a call or --tenant is wanted")
      return { call_id: id, tenant }
    },
    print: asFields,
    isSound: EndedCalls.areOver
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
