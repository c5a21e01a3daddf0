import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Wire from "../../../../src/domain/schema/Wire.ts"
import * as Command from "../../../../src/edge/operator/command/Command.ts"
import * as CommandLine from "../../../../src/edge/operator/command/CommandLine.ts"
import * as Flag from "../../../../src/edge/operator/command/Flag.ts"

const command = Command.make("thing change", {
  summary: "changes a thing",
  input: {
    thingId: Flag.argument("id", Schema.String, "the thing"),
    userName: Flag.of(Schema.String, "whose it is", { flag: "user" }),
    maxCalls: Flag.optional(Schema.NullOr(Schema.Int), "calls at once", { none: "default" }),
    port: Flag.of(Wire.absentIs(5060, Schema.Int), "its port"),
    scopes: Flag.optional(Schema.Array(Schema.String), "what it may do"),
    as: Flag.optional(Schema.Literals(["void", "lost"]), "what becomes of it"),
    isAsked: Flag.optional(Schema.Boolean, "whether it is asked", { words: Flag.onOff }),
    isHeld: Flag.of(Wire.absentIs(true, Schema.Boolean), "lets it go", { flag: "no-hold", sets: false }),
    password: Flag.of(Schema.NullOr(Schema.String), "its password", { instead: { none: () => null } })
  },
  run: (given) => Effect.succeed(given)
})

const read = (...args: ReadonlyArray<string>) => CommandLine.read(args, command.input)

describe("the command line that a command declares", () => {
  it("has a usage line, with what may be missing in brackets", () =>
    expect(CommandLine.usage(command)).toBe(
      "thing change <id> --user USER [--max-calls N|default] [--port N] [--scopes LIST] [--as void|lost] " +
        "[--is-asked on|off] [--no-hold] --password PASSWORD|--none"
    ))

  it("has a page with what each argument and flag is", () => {
    const [usage, summary, , ...lines] = CommandLine.page(command).split("\n")
    expect([usage, summary]).toEqual([CommandLine.usage(command), "    changes a thing"])
    expect(lines).toHaveLength(9)
    expect(lines[0]).toMatch(/^ {2}<id> +the thing$/)
    expect(lines.at(-1)).toBe("  --password PASSWORD|--none  its password")
  })

  it("reads each value by the type of its field, and leaves out what is not given", async () => {
    expect(await read("x", "--user", "u", "--none")).toStrictEqual({ thingId: "x", userName: "u", password: null })
    const line = "--max-calls default x --user=u --port -7 --scopes a,b --as void --is-asked off --no-hold --password p"
    expect(await read(...line.split(" "))).toStrictEqual({
      thingId: "x",
      userName: "u",
      maxCalls: null,
      port: -7,
      scopes: ["a", "b"],
      as: "void",
      isAsked: false,
      isHeld: false,
      password: "p"
    })
  })

  it.each([
    [["x", "--user", "u"], "one of --password, --none is wanted"],
    [["x", "--user", "u", "--none", "--password", "p"], "one of --password, --none is wanted"],
    [["x", "--none"], "--user is missing"],
    [["--user", "u", "--none"], "<id> is missing"],
    [["x", "--user", "u", "--max-calls", "none", "--none"], '--max-calls must be a whole number, not "none"'],
    [["x", "--user", "u", "--is-asked", "yes", "--none"], '--is-asked must be on or off, not "yes"'],
    [["x", "--user", "u", "--none", "--none"], "--none is given twice"]
  ])("refuses %j", async (args, message) =>
    expect(await read(...args).catch((error: unknown) => error)).toStrictEqual(new CommandLine.UsageError(message))
  )

  it("wants one of two fields where the command says so", async () => {
    const fields = {
      id: Flag.optional(Schema.String, "one", { argument: "id" }),
      of: Flag.optional(Schema.String, "all of these")
    }
    const one = (...args: ReadonlyArray<string>) =>
      CommandLine.read(args, fields, ["id", "of"]).catch((error: unknown) => (error as Error).message)
    expect([await one("x"), await one("--of", "y")]).toStrictEqual([{ id: "x" }, { of: "y" }])
    expect([await one(), await one("x", "--of", "y")]).toEqual(Array(2).fill("either <id> or --of is wanted"))
  })

  it.effect("is what the door decodes, by names in snake_case, with defaults", () =>
    Effect.gen(function* () {
      expect(yield* command.run({ thing_id: "x", user_name: "u", password: null })).toStrictEqual({
        thingId: "x",
        userName: "u",
        port: 5060,
        isHeld: true,
        password: null
      })
      const refused = yield* Effect.flip(command.run({ thing_id: "x", user_name: "u", password: null, thingId: "y" }))
      expect([refused.code, refused.message]).toEqual(["invalid_request", expect.stringContaining("thingId")])
    })
  )
})
