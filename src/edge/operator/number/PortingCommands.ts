import { asFields, type Command, rowsOf } from "../command/Command.ts"

const order = { positionals: ["order"] } as const
const id = (args: Parameters<Command["body"]>[0]) => args.positional("order")

export const commands: ReadonlyArray<Command> = [
  {
    words: "port list",
    does: "lists porting orders that wait for you or the losing carrier, the longest first; or all of one status",
    positionals: [],
    options: { status: "value", limit: "value" },
    usage: "[--status STATUS] [--limit N]",
    operation: "port/list",
    body: (args) => ({ status: args.text("status"), limit: args.integer("limit") }),
    print: rowsOf("id", "status", "tenant_id", "phone_numbers", "requested_foc_at", "foc_at", "updated_at")
  },
  {
    words: "port show",
    does: "shows a porting order with account number and PIN, for the losing carrier",
    ...order,
    options: {},
    usage: "",
    operation: "port/show",
    body: (args) => ({ order_id: id(args) }),
    print: (answer: unknown) => JSON.stringify(answer, null, 2)
  },
  {
    words: "port document",
    does: "saves a document of an order as a new file",
    positionals: ["document", "file"],
    options: {},
    usage: "",
    operation: "port/document",
    body: (args) => ({ document_id: args.positional("document") }),
    savesTo: (args) => args.positional("file"),
    saves: "file",
    print: (answer: { readonly file: string; readonly bytes: number }) => `${answer.file}: ${answer.bytes} bytes`
  },
  {
    words: "port judge",
    does: "says what you found of a document",
    positionals: ["document", "verified|rejected"],
    options: {},
    usage: "",
    operation: "port/judge",
    body: (args) => ({ document_id: args.positional("document"), status: args.positional("verified|rejected") }),
    print: asFields
  },
  {
    words: "port exception",
    does: "the losing carrier refuses; its tenant gets a letter and 14 days",
    ...order,
    options: { code: "value", reason: "value" },
    usage: "--code CODE --reason TEXT",
    operation: "port/exception",
    body: (args) => ({ order_id: id(args), code: args.required("code"), description: args.required("reason") }),
    print: asFields
  },
  {
    words: "port foc",
    does: "the losing carrier has confirmed a date (RFC 3339), or another one",
    ...order,
    options: { at: "value", carrier: "value" },
    usage: "--at TIME [--carrier NAME]",
    operation: "port/foc",
    body: (args) => ({ order_id: id(args), at: args.required("at"), losing_carrier: args.text("carrier") }),
    print: asFields
  },
  {
    words: "port complete",
    does: "the numbers have moved: they are active from now on",
    ...order,
    options: {},
    usage: "",
    operation: "port/complete",
    body: (args) => ({ order_id: id(args) }),
    print: asFields
  },
  {
    words: "port cancel",
    does: "the losing carrier has cancelled, as its tenant asked or not; --refused: it will not cancel any more",
    ...order,
    options: { refused: "flag" },
    usage: "[--refused]",
    operation: "port/cancel",
    body: (args) => ({ order_id: id(args), refused: args.flag("refused") }),
    print: asFields
  }
]
