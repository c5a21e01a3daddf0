import { afterEach, describe, expect, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import * as Config from "../src/app/boot/config/Config.ts"
import * as FreePorts from "./support/network/FreePorts.ts"
import * as NpmStart from "./support/service/NpmStart.ts"

/** `npm start` and its launcher: which Node runs, and what is left when it ends. */
const root = new URL("..", import.meta.url).pathname

const temporary: Array<string> = []
const folder = async () => {
  const path = await mkdtemp(join(tmpdir(), "trunkline-"))
  // As root the embedded Postgres belongs to another user.
  await chmod(path, 0o711)
  temporary.push(path)
  return path
}
afterEach(async () => {
  for (const path of temporary.splice(0)) await rm(path, { recursive: true, force: true })
})

describe("The launcher", () => {
  /** A project of which npm has installed the Node of this platform, but has linked nothing into `.bin`. */
  const project = async (nodeSays: string | null) => {
    const path = await folder()
    await mkdir(join(path, "scripts"))
    await copyFile(join(root, "scripts/launch.js"), join(path, "scripts/launch.js"))
    await writeFile(join(path, "package.json"), `{ "type": "module" }`)
    await writeFile(join(path, "hello.ts"), `console.log("this Node ran", process.argv.slice(2).join(" "))`)
    if (nodeSays === null) return path
    const brought = join(path, "node_modules", `node-${process.platform}-${process.arch}`)
    await mkdir(join(brought, "bin"), { recursive: true })
    await writeFile(join(brought, "package.json"), "{}")
    const node = `#!/bin/sh\nif [ "$1" = --version ]; then echo ${nodeSays}; else echo "that one ran" "$@"; command -v node; fi\n`
    await writeFile(join(brought, "bin/node"), node, { mode: 0o755 })
    return path
  }
  /** Started by a Node of that version, as far as the launcher can see. */
  const launched = (path: string, version: string) => {
    const older = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'${version}'}})`
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--import", older, "scripts/launch.js", "hello.ts", "a", "b c"],
      { cwd: path, encoding: "utf8" }
    )
    return { status, said: `${stdout}${stderr}` }
  }

  it("runs the Node that came with the packages where .bin has none, and puts it first in the PATH", async () => {
    const path = await project("v24.21.0")
    const { status, said } = launched(path, "20.20.2")
    expect(status).toBe(0)
    expect(said).toMatch(/^that one ran --disable-sigusr1 hello\.ts a b c\n.*\/node_modules\/node-[^/]+\/bin\/node\n$/)
  })

  it("uses the Node that started it when that is new enough and none that runs was installed", async () => {
    expect(launched(await project(null), "24.1.0").said).toBe("this Node ran a b c\n")
    expect(launched(await project("that it is for another libc"), "24.1.0").said).toBe("this Node ran a b c\n")
  })

  it("says in one line which Node is needed when there is none", async () => {
    const { status, said } = launched(await project(null), "20.20.2")
    expect(status).toBe(1)
    expect(said).toMatch(/^trunkline: Node 24 is needed: [^\n]*this is Node 20\.20\.2[^\n]*\n$/)
  })
})

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0

describe("The unit for systemd", () => {
  it.skipIf(!hasSystemd)("has no fault that systemd knows", async () => {
    const unit = await readFile(join(root, "scripts/systemd/trunkline.service"), "utf8")
    const file = join(await folder(), "trunkline.service")
    // The place where it will be installed is not on this machine.
    const here = unit.replaceAll("/opt/trunkline", root).replace("/usr/bin/node", process.execPath)
    await writeFile(file, here)
    const { status, stderr, stdout } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" })
    expect(`${stdout}${stderr}`).toBe("")
    expect(status).toBe(0)
  })

  it("gives the service the time that it may need to stop", async () => {
    const unit = await readFile(join(root, "scripts/systemd/trunkline.service"), "utf8")
    const limit = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])
    expect(limit).toBeGreaterThan(Config.parse({}).drainSecs + 30)
    expect(unit).toMatch(/^KillMode=mixed$/m)
  })
})

describe("A run of tests", () => {
  it("leaves no process when it gets SIGINT", { timeout: 300_000 }, async () => {
    const args = ["scripts/launch.js", "vitest", "run", "--config", "test/vitest.config.ts"]
    const run = spawn(process.execPath, [...args, "test/runtime/store/Standby.test.ts"], { cwd: root, stdio: "ignore" })
    const ended = once(run, "exit")
    let processes: ReadonlyArray<NpmStart.Started> = []
    try {
      const hasPostgres = () => processes.some(({ command }) => /bin\/postgres\b/.test(command))
      while (!hasPostgres() && run.exitCode === null) {
        await delay(100)
        processes = await NpmStart.family(run.pid ?? 0)
      }
      expect(hasPostgres()).toBe(true)
      run.kill("SIGINT")
      await ended
      expect(await NpmStart.remaining(processes, 10_000)).toStrictEqual([])
    } finally {
      await NpmStart.killAll(processes)
    }
  })
})

describe("npm start", () => {
  const startedChild = async (environment: Readonly<Record<string, string>> = {}) => {
    const dataDir = join(await folder(), "data")
    const ports = await FreePorts.find()
    const again = () => NpmStart.start({ npm: ["npm"], folder: root, dataDir, ports, environment })
    return { dataDir, ports, again, service: again() }
  }

  /** Signs up and places a call that lasts; gives the key. */
  const tenantWithCall = async (api: string) => {
    const post = async (path: string, body: unknown, key?: string) => {
      const authorization = key === undefined ? undefined : { authorization: `Bearer ${key}` }
      const headers = { "content-type": "application/json", ...authorization }
      const answer = await fetch(`${api}/v1/${path}`, { method: "POST", headers, body: JSON.stringify(body) })
      expect(answer.ok, `${path}: ${answer.status}`).toBe(true)
      return (await answer.json()) as { readonly api_key_plaintext: string }
    }
    const person = { email: "a@example.com", password: "correct horse", first_name: "A", last_name: "B" }
    const { api_key_plaintext: key } = await post("signup", { ...person, tenant_name: "T" })
    const numbers = { phone_numbers: ["+12025550150"], country_code: "US", number_type: "local" }
    await post("numbers/order", numbers, key)
    await post("calls", { from: "+12025550150", to: "+12025550100" }, key)
    return { key }
  }

  const leavesNothing = async (
    { dataDir, ports, service }: Awaited<ReturnType<typeof startedChild>>,
    end: () => void | Promise<void>,
    withinMs: number
  ) => {
    const processes = await service.processes()
    try {
      expect(
        processes.some(({ command }) => command.includes("src/main.ts")),
        "the service"
      ).toBe(true)
      expect(
        processes.some(({ command }) => /bin\/postgres\b/.test(command)),
        "its Postgres"
      ).toBe(true)
      await end()
      expect(await NpmStart.remaining(processes, withinMs), service.said()).toStrictEqual([])
      expect(await NpmStart.isBound(ports.http)).toBe(false)
      expect(await NpmStart.isBound(ports.operator)).toBe(false)
      expect((await readdir(dataDir)).filter((name) => name.startsWith("owner-"))).toStrictEqual([])
    } finally {
      await NpmStart.killAll(processes)
    }
  }

  for (const signal of ["SIGTERM", "SIGHUP", "SIGKILL"] as const)
    it(`leaves no process and no port when npm gets ${signal}`, { timeout: 300_000 }, async () => {
      const started = await startedChild()
      await started.service.ready
      await leavesNothing(started, () => started.service.signal(signal), 20_000)
    })

  it("leaves nothing when the launcher is killed", { timeout: 300_000 }, async () => {
    const started = await startedChild()
    await started.service.ready
    const launcher = (await started.service.processes()).find(({ command }) => command.includes("launch.js"))
    expect(launcher).toBeDefined()
    await leavesNothing(started, () => void process.kill(launcher?.pid ?? 0, "SIGKILL"), 20_000)
  })

  it(
    "drains at the first SIGINT, ends at the second with nothing left, and starts again",
    { timeout: 300_000 },
    async () => {
      const started = await startedChild({ DRAIN_SECS: "600" })
      const { service } = started
      await service.ready
      await tenantWithCall(service.api)

      await leavesNothing(
        started,
        async () => {
          const processes = await service.processes()
          service.signal("SIGINT")
          expect((await NpmStart.remaining(processes, 2_000)).length, service.said()).toBeGreaterThan(2)
          service.signal("SIGINT")
        },
        15_000
      )
      const next = started.again()
      await next.ready
      await leavesNothing({ ...started, service: next }, () => next.signal("SIGTERM"), 20_000)
    }
  )

  it(
    "drains when a supervisor signals every process at once, keeps its database up, and leaves nothing",
    { timeout: 300_000 },
    async () => {
      const started = await startedChild({ DRAIN_SECS: "600" })
      const { service } = started
      await service.ready
      const { key } = await tenantWithCall(service.api)
      const before = await service.processes()
      for (const { pid } of before)
        try {
          process.kill(pid, "SIGTERM")
        } catch {
          // It has ended, because its parent has.
        }
      const [, , main] = before
      // The API reads from the database again, after the one that was signalled has ended.
      const calls = async () =>
        fetch(`${service.api}/v1/calls`, { headers: { authorization: `Bearer ${key}` } }).then(
          async (answer) => (answer.ok ? ((await answer.json()) as { readonly count: number }).count : null),
          () => null
        )
      while ((await calls()) !== 1) await delay(100)
      expect((await NpmStart.remaining(before, 0)).some(({ command }) => command.includes("src/main.ts"))).toBe(true)
      const now = await NpmStart.family(main?.pid ?? 0)
      expect(now.some(({ command }) => /bin\/postgres\b/.test(command))).toBe(true)
      // A signal that comes within 400 ms of the one before is the same request (`StopMachine`).
      while (!service.said().includes("live calls go on for a while")) await delay(100)
      await delay(1_000)
      try {
        process.kill(main?.pid ?? 0, "SIGINT")
        expect(await NpmStart.remaining([...before, ...now], 30_000), service.said()).toStrictEqual([])
        expect((await readdir(started.dataDir)).filter((name) => name.startsWith("owner-"))).toStrictEqual([])
      } finally {
        await NpmStart.killAll([...before, ...now])
      }
    }
  )

  it(
    "survives SIGUSR1 and SIGUSR2 to each of its own processes, and opens no debugger",
    { timeout: 300_000 },
    async () => {
      const started = await startedChild()
      const { service } = started
      await service.ready
      const own = (await service.processes()).filter(({ command }) =>
        /launch\.js|src\/main\.ts|EspeakProgram/.test(command)
      )
      // The first one is npm, which is not ours.
      const nodes = own.filter(({ command }) => !command.startsWith("npm"))
      expect(nodes.length).toBeGreaterThanOrEqual(2)
      for (const signal of ["SIGUSR1", "SIGUSR2"] as const) for (const { pid } of nodes) process.kill(pid, signal)
      await delay(500)
      expect(await NpmStart.remaining(nodes, 0)).toHaveLength(nodes.length)
      expect(service.said()).not.toContain("Debugger listening")
      await leavesNothing(started, () => service.signal("SIGTERM"), 20_000)
    }
  )

  it("leaves nothing at the second SIGINT though a client is slow", { timeout: 300_000 }, async () => {
    const started = await startedChild()
    const { service } = started
    await service.ready
    const client = connect(started.ports.http, "127.0.0.1")
    client.on("error", () => undefined)
    client.write("POST /v1/signup HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
    await delay(200)
    await leavesNothing(
      started,
      async () => {
        service.signal("SIGINT")
        await delay(600)
        service.signal("SIGINT")
      },
      6_000
    )
    client.destroy()
  })
})
