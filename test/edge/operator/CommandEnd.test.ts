import { describe, expect, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"

/** The operator's command as a process of its own: it comes to its end whatever is still open. */
const root = new URL("../../..", import.meta.url).pathname

/** Something in the process stays open for ever, as a connection, a channel or a timer would. */
const leak = "data:text/javascript,setInterval(() => undefined, 1e6)"

const start = (...args: ReadonlyArray<string>) =>
  spawn(process.execPath, ["--import", leak, "src/edge/operator/cli.ts", ...args], {
    cwd: root,
    env: { PATH: process.env["PATH"], DATA_DIR: "/nowhere" },
    // Its standard input stays open.
    stdio: ["pipe", "pipe", "pipe"]
  })

describe("an operator's command", () => {
  for (const [what, args, code, says] of [
    ["that is done", ["help"], 0, /npm run operator -- <command>/],
    ["that is refused", ["tenant", "list"], 3, /^operator: cannot read the token/],
    ["that is wrong", ["fly"], 2, /^operator: no command/]
  ] as const)
    it(`${what} writes all that it has to say and ends`, async () => {
      const child = start(...args)
      const said = Promise.all([text(child.stdout), text(child.stderr)])
      const [ended] = (await once(child, "close")) as [number | null]
      expect((await said).join("")).toMatch(says)
      expect(ended).toBe(code)
    })

  it("ends quietly when the reader of its output has gone", async () => {
    const child = start("help")
    child.stdout.destroy()
    const complaint = text(child.stderr)
    const [ended] = (await once(child, "exit")) as [number | null]
    expect(await complaint).toBe("")
    expect(ended).toBe(0)
  })
})
