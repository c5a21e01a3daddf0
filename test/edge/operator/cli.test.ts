import { describe, expect, it } from "@effect/vitest"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Commands from "../../../src/edge/operator/command/Commands.ts"
import { run } from "../../../src/edge/operator/cli.ts"

describe("the operator command's line", () => {
  it("lists every command in its help", async () => {
    const { code, stdout } = await run(["help"], {})
    expect(code).toBe(0)
    for (const { words } of await Commands.all()) expect(stdout).toContain(`\n  ${words} `.trimEnd())
  })

  it("shows one command with its flags", async () => {
    const { code, stdout } = await run(["route", "list", "--help"], {})
    expect([code, stdout]).toStrictEqual([
      0,
      expect.stringMatching(/^route list --tenant ID\|SLUG\n[^]*\n {2}--tenant /)
    ])
    expect(await run(["help", "route", "list"], {})).toStrictEqual({ code, stdout, stderr: "" })
  })

  for (const [title, args, message] of [
    ["an unknown command", ["fly"], 'no command "fly"; "help" lists them'],
    [
      "half a command",
      ["rates"],
      "which of: rates import, rates diff, rates list, rates history, rates cancel, rates discount, rates discounts?"
    ],
    ["an unknown option", ["rates", "list", "--quick"], "Unknown option '--quick'"],
    ["a missing argument", ["tenant", "show"], "<id|slug> is missing"],
    ["an argument too many", ["tenant", "show", "a", "b"], 'unexpected argument "b"'],
    ["a missing option", ["route", "list"], "--tenant is missing"],
    ["an empty option", ["route", "list", "--tenant", ""], "--tenant is empty"],
    ["an option given twice", ["route", "list", "--tenant", "a", "--tenant", "b"], "--tenant is given twice"],
    [
      "a number that is none",
      ["tenant", "credit", "a", "--cents", "5.5", "--reason", "x"],
      '--cents must be a whole number, not "5.5"'
    ],
    [
      "a switch that is neither on nor off",
      ["tenant", "quota", "a", "--forwarding", "yes"],
      '--forwarding must be on or off, not "yes"'
    ]
  ] as const)
    it(`refuses ${title} in one line, with exit code 2`, async () =>
      expect(await run(args, {})).toStrictEqual({ code: 2, stdout: "", stderr: message }))

  it("refuses a file that it cannot read", async () => {
    const { code, stderr } = await run(["rates", "import", "/nowhere.csv"], {})
    expect([code, stderr.split(":")[0]]).toStrictEqual([2, "cannot read /nowhere.csv"])
  })

  it("says where it looked for the token, with exit code 3", async () =>
    expect(await run(["tenant", "list"], { DATA_DIR: "/nowhere" })).toStrictEqual({
      code: 3,
      stdout: "",
      stderr:
        "cannot read the token /nowhere/operator.token (ENOENT): set DATA_DIR to the running service's, or OPERATOR_TOKEN"
    }))

  it("says where no service answers, with exit code 3", async () => {
    const { code, stderr } = await run(["tenant", "list"], { OPERATOR_URL: "http://127.0.0.1:1/", OPERATOR_TOKEN: "t" })
    expect([code, stderr.split(":").slice(0, 3).join(":")]).toStrictEqual([
      3,
      "no service answers at http://127.0.0.1:1"
    ])
  })

  it("shows nothing of what tenants wrote that would drive the terminal, as text, as JSON or as an error", async () => {
    const name = "\u001b[2J\u009b31m\u202egnp\nroot# "
    let status = 200
    const service = createServer((_, response) => {
      const error = { code: "conflict", message: `no tenant ${name}` }
      response.writeHead(status).end(JSON.stringify(status === 200 ? { results: [{ id: "1", name }] } : { error }))
    })
    await new Promise<void>((listening) => service.listen(0, "127.0.0.1", listening))
    const { port } = service.address() as AddressInfo
    const environment = { OPERATOR_URL: `http://127.0.0.1:${port}`, OPERATOR_TOKEN: "t" }
    const acts = /[^\n\P{Cc}]|\p{Cf}/u
    const text = await run(["tenant", "list"], environment)
    expect(text.stdout.split("\n")).toHaveLength(2)
    expect(text.stdout).not.toMatch(acts)
    const json = await run(["tenant", "list", "--json"], environment)
    expect(json.stdout).not.toMatch(acts)
    expect(JSON.parse(json.stdout)).toEqual({ results: [{ id: "1", name }] })
    status = 409
    const refused = await run(["tenant", "list"], environment)
    expect([refused.code, refused.stderr.split("\n").length]).toEqual([1, 1])
    expect(refused.stderr).not.toMatch(acts)
    service.close()
  })

  it("knows when what answers is something else", async () => {
    const other = createServer((_, response) => response.writeHead(200 + 204).end("<html>"))
    await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening))
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const { code, stderr } = await run(["tenant", "list"], { OPERATOR_URL: url, OPERATOR_TOKEN: "t" })
    other.close()
    expect([code, stderr]).toStrictEqual([3, `what answers at ${url} (404) is not this service's operator port`])
  })
})
