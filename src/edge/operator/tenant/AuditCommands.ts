import { type Command, pageOf } from "../command/Command.ts"

export const commands: ReadonlyArray<Command> = [
  {
    words: "audit list",
    does: "lists who changed what of a tenant, or without one what the operator changed for all, the newest first",
    positionals: [],
    options: {
      tenant: "value",
      action: "value",
      "resource-type": "value",
      "resource-id": "value",
      "actor-type": "value",
      "created-after": "value",
      "created-before": "value",
      limit: "value",
      after: "value"
    },
    usage:
      "[--tenant ID|SLUG] [--action A] [--resource-type T] [--resource-id ID] [--actor-type T] [--created-after TIME] " +
      "[--created-before TIME] [--limit 50] [--after NEXT]",
    operation: "audit/list",
    body: (args) => ({
      tenant: args.text("tenant"),
      action: args.text("action"),
      resource_type: args.text("resource-type"),
      resource_id: args.text("resource-id"),
      actor_type: args.text("actor-type"),
      created_after: args.text("created-after"),
      created_before: args.text("created-before"),
      limit: args.integer("limit"),
      after: args.text("after")
    }),
    print: pageOf("occurred_at", "actor", "action", "resource", "changes", "ip")
  }
]
