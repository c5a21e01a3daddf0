/** The unit for systemd, installed as the guide says, on a machine that systemd has booted. */
import { readFileSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Machine from "./peer/Machine.ts"
import { eventually } from "./peer/Service.ts"

const startMs = 120_000

let opened: Machine.Machine | string = "not tried yet"

/** A user of the API in the machine: `place` signs up at the first time, and calls a phone that echoes. */
const client = `
import { existsSync, readFileSync, writeFileSync } from "node:fs"
const [what, id] = process.argv.slice(2)
const kept = "/root/key"
const ask = async (path, body, key) => {
  const headers = { "content-type": "application/json", ...(key === undefined ? {} : { authorization: "Bearer " + key }) }
  const url = "http://127.0.0.1:8080/v1/" + path
  return (await fetch(url, body === null ? { headers } : { method: "POST", headers, body: JSON.stringify(body) })).json()
}
if (!existsSync(kept)) {
  const person = { email: "me@example.com", password: "correct horse battery", first_name: "A", last_name: "B" }
  const key = (await ask("signup", { ...person, tenant_name: "Example" })).api_key_plaintext
  const order = { phone_numbers: ["+12025550150"], country_code: "US", number_type: "local" }
  await ask("numbers/order", order, key)
  writeFileSync(kept, key)
}
const key = readFileSync(kept, "utf8")
if (what === "place") console.log((await ask("calls", { from: "+12025550150", to: "+12025550100" }, key)).id)
else {
  const { status, why } = await ask("calls/" + id, null, key)
  console.log(status + " " + (why?.code ?? ""))
}
`

const machine = (): Machine.Machine => {
  if (typeof opened === "string") throw new Error(opened)
  return opened
}
const run = (line: string): string => machine().run(line).output
const shown = (names: string): string =>
  run(`systemctl show trunkline --value ${names}`).split("\n").filter(Boolean).join(" ")

const isReady = `node -e 'fetch("http://127.0.0.1:8081/readyz").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))'`
const ready = () =>
  eventually("the service is ready", () => (machine().run(isReady).status === 0 ? true : undefined), startMs)

const placed = async (): Promise<string> => {
  const id = run("node /root/client.mjs place")
  await eventually("the call is answered", () => (stateOf(id).startsWith("answered") ? true : undefined))
  return id
}
const stateOf = (id: string): string => run(`node /root/client.mjs show ${id}`)

beforeAll(async () => {
  opened = await Machine.open()
  if (typeof opened === "string") return console.warn(`skipped: systemd cannot be booted here. ${opened}`)
  const guide = readFileSync(new URL("../../src/guide/operation.md", import.meta.url), "utf8")
  const [, install = ""] = /```sh\n(cd \/opt\/trunkline && npm ci\n[^`]+)```/.exec(guide) ?? []
  expect(install).toContain("systemctl enable --now trunkline")
  opened.write("root/client.mjs", client)
  opened.write("etc/trunkline.env", "DRAIN_SECS=1\n")
  for (const line of install.trim().split("\n")) {
    // The packages are there, and the log would be followed for ever. Of node_modules only the bundles are written.
    if (/npm ci|journalctl/.test(line)) continue
    const cheaper = line.startsWith("chown")
      ? "rm -rf node_modules/.cache && mkdir node_modules/.cache && chown trunkline: node_modules/.cache"
      : line
    const { output, status } = opened.run(`cd /opt/trunkline && ${cheaper}`)
    expect([line, status, output]).toEqual([line, 0, expect.anything()])
  }
}, 900_000)

afterAll(async () => {
  if (typeof opened !== "string") await opened.close()
}, 600_000)

const unless = (test: () => Promise<void>) => async () => (typeof opened === "string" ? undefined : test())

describe("the unit for systemd", () => {
  it(
    "starts, and ends a live call at a restart, cleanly",
    unless(async () => {
      await ready()
      const id = await placed()
      run("systemctl restart trunkline")
      expect(shown("-p Result -p NRestarts -p ActiveState")).toBe("success 0 active")
      await ready()
      expect(stateOf(id)).toBe("ended service_stopped")
      expect(run("journalctl -u trunkline --no-pager")).not.toContain("Failed with result")
    }),
    600_000
  )

  it(
    "starts the service again when its processes are killed",
    unless(async () => {
      await ready()
      const id = await placed()
      for (const restarts of [1, 2]) {
        const killed = restarts === 1 ? "main" : "all"
        run(`systemctl kill --kill-whom=${killed} -s KILL trunkline`)
        await eventually(
          "it is restarted",
          () => (shown("-p NRestarts") === String(restarts) ? true : undefined),
          startMs
        )
        await ready()
      }
      expect(stateOf(id)).toBe("ended service_restarted")
    }),
    600_000
  )

  it(
    "stops cleanly, also while the service starts, and leaves no process",
    unless(async () => {
      for (const after of ["0.1", "0.5", "2", "6"]) {
        // The starts of this test are no failures that systemd should count.
        run(`systemctl reset-failed trunkline; systemctl restart trunkline; sleep ${after}; systemctl stop trunkline`)
        expect([after, shown("-p Result -p ActiveState")]).toEqual([after, "success inactive"])
        expect(run("ps -u trunkline -o pid= || true")).toBe("")
      }
    }),
    600_000
  )

  it(
    "does not repeat a start with a wrong setting, and shows the line that names it",
    unless(async () => {
      machine().write("etc/trunkline.env", "DRAIN_SECS=soon\n")
      run("systemctl reset-failed trunkline; systemctl start trunkline")
      await eventually("it has failed", () => (shown("-p ActiveState") === "failed" ? true : undefined), startMs)
      expect(shown("-p ExecMainStatus -p NRestarts")).toBe("0 78")
      expect(run("systemctl status trunkline --no-pager")).toContain("DRAIN_SECS must be a whole number")
    }),
    600_000
  )
})
