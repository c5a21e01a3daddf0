import { type Arguments, UsageError } from "../command/Arguments.ts"
import { asFields, type Command, password, rowsOf } from "../command/Command.ts"

const oneRoute = { positionals: ["route-id"], options: {}, usage: "", print: asFields } as const
const routeId = (args: Arguments) => args.positional("route-id")

/** A command that names one route, and nothing else. */
const ofRoute = (verb: string, does: string): Command => ({
  words: `route ${verb}`,
  does,
  ...oneRoute,
  operation: `route/${verb}`,
  body: (args) => ({ id: routeId(args) })
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
      options: "value",
      default: "flag"
    },
    usage:
      "--tenant ID|SLUG --name NAME --host HOST [--port 5060] [--user USER --password PASSWORD|--password-stdin] [--options on|off] [--default]",
    operation: "route/add",
    body: async (args) => ({
      tenant: args.required("tenant"),
      name: args.required("name"),
      host: args.required("host"),
      port: args.integer("port"),
      username: args.text("user"),
      password: await password(args),
      is_qualified: args.onOff("options"),
      is_default: args.flag("default")
    }),
    print: asFields
  },
  {
    words: "route list",
    does: "lists the routes of a tenant: state (by OPTIONS), round trip, live calls, limits",
    positionals: [],
    options: { tenant: "value" },
    usage: "--tenant ID|SLUG",
    operation: "route/list",
    body: (args) => ({ tenant: args.required("tenant") }),
    print: rowsOf(
      "id",
      "name",
      "adapter",
      "host",
      "port",
      "username",
      "is_default",
      "status",
      "state",
      "state_since",
      "rtt_ms",
      "last_status",
      "live_calls",
      "max_calls",
      "outbound_cps",
      "inbound_cps"
    )
  },
  ofRoute("disable", "takes no calls by it any more, and none from its address; live calls go on"),
  ofRoute("enable", "takes calls again"),
  ofRoute("default", "makes it the default route of its tenant"),
  {
    words: "route password",
    does: "changes what the trunk's challenges are answered with; --none: nothing any more",
    positionals: ["route-id"],
    options: { user: "value", password: "value", "password-stdin": "flag", none: "flag" },
    usage: "[--user USER] --password PASSWORD|--password-stdin|--none",
    operation: "route/password",
    body: async (args) => {
      const given = await password(args)
      if ((given === undefined) !== args.flag("none"))
        throw new UsageError("one of --password, --password-stdin and --none is wanted")
      return { id: routeId(args), username: args.text("user"), password: given ?? null }
    },
    print: asFields
  },
  {
    words: "route limits",
    does: "sets calls at once, new calls a second each way, OPTIONS, and what calls get while it does not answer them",
    positionals: ["route-id"],
    options: {
      calls: "value",
      "outbound-cps": "value",
      "inbound-cps": "value",
      options: "value",
      unreachable: "value"
    },
    usage:
      "[--calls N|default] [--outbound-cps N|none] [--inbound-cps N|default] [--options on|off] [--unreachable try|refuse]",
    operation: "route/limits",
    body: (args) => {
      const unreachable = args.text("unreachable")
      if (unreachable !== undefined && unreachable !== "try" && unreachable !== "refuse")
        throw new UsageError(`--unreachable must be try or refuse, not "${unreachable}"`)
      return {
        id: routeId(args),
        max_calls: args.integerOrNone("calls", "default"),
        outbound_cps: args.integerOrNone("outbound-cps"),
        inbound_cps: args.integerOrNone("inbound-cps", "default"),
        is_qualified: args.onOff("options"),
        refuses_unreachable: unreachable === undefined ? undefined : unreachable === "refuse"
      }
    },
    print: asFields
  },
  ofRoute("remove", "removes a route that no number, order or subscription names, and that is no default")
]
