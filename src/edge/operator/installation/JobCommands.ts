import { asFields, type Command, rowsOf } from "../command/Command.ts"

export const commands: ReadonlyArray<Command> = [
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
  }
]
