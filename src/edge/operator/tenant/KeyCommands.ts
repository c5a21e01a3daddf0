import { asFields, type Command, oneTenant, rowsOf, tenant } from "../command/Command.ts"

export const commands: ReadonlyArray<Command> = [
  {
    words: "key list",
    does: "lists the newest 1,000 API keys of a tenant, revoked ones too",
    ...oneTenant,
    operation: "key/list",
    body: (args) => ({ tenant: tenant(args) }),
    print: rowsOf(
      "id",
      "prefix",
      "created_at",
      "last_used_at",
      "last_used_ip",
      "expires_at",
      "revoked_at",
      "name",
      "scopes"
    )
  },
  {
    words: "key issue",
    does: "makes an API key for a tenant, and shows it once",
    positionals: ["id|slug"],
    options: { name: "value", scopes: "value", expires: "value" },
    usage: "--name TEXT [--scopes calls:read,calls:write] [--expires 2027-01-31T12:00:00Z]",
    operation: "key/issue",
    body: (args) => ({
      tenant: tenant(args),
      name: args.required("name"),
      scopes: args
        .text("scopes")
        ?.split(",")
        .map((scope) => scope.trim()),
      expires: args.text("expires")
    }),
    print: asFields
  },
  {
    words: "key revoke",
    does: "revokes an API key for good; its next request is refused",
    positionals: ["id|slug", "key id"],
    options: {},
    usage: "",
    operation: "key/revoke",
    body: (args) => ({ tenant: tenant(args), id: args.positional("key id") }),
    print: asFields
  }
]
