/**
 * A machine that systemd has booted: a container with the distribution of this one, its own network, and the project at
 * `/opt/trunkline`. What the machine writes there stays with it.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { end, eventually } from "./Service.ts"

interface Ran {
  readonly status: number | null
  readonly output: string
}

export interface Machine {
  /** Runs a line of the shell as root. */
  readonly run: (line: string) => Ran
  /** Writes a file of the machine. */
  readonly write: (path: string, text: string) => void
  readonly close: () => Promise<void>
}

const project = new URL("../../..", import.meta.url).pathname

const environment = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", LANG: "C.UTF-8" }

const codename = (): string => /^VERSION_CODENAME=(\S+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? ""

const bootMs = 120_000

/** Boots a machine; the reason why that is not possible here, as text. */
export const open = async (): Promise<Machine | string> => {
  if (process.getuid?.() !== 0) return "only root may boot one"
  const folder = mkdtempSync("/var/tmp/trunkline-machine-")
  const root = join(folder, "root")
  const remove = () => rm(folder, { recursive: true, force: true })
  const packages = "--include=systemd,systemd-sysv,dbus,libstdc++6,procps"
  // It mounts file systems in the folder, which are gone with its namespace whatever becomes of it.
  const install = ["--mount", "debootstrap", "--variant=minbase", packages, codename(), root]
  const installed = spawnSync("unshare", install, { encoding: "utf8" })
  if (installed.error !== undefined || installed.status !== 0) {
    await remove()
    return `debootstrap: ${installed.error?.message ?? installed.stdout.trim().split("\n").at(-1)}`
  }
  const changes = join(folder, "changes")
  mkdirSync(changes)
  const container = spawn(
    "systemd-nspawn",
    [
      "--quiet",
      "--boot",
      "--register=no",
      "--keep-unit",
      "--private-network",
      `--machine=trunkline-${process.pid}`,
      `--directory=${root}`,
      `--bind-ro=${process.execPath}:/usr/bin/node`,
      `--overlay=${project}:${changes}:/opt/trunkline`
    ],
    { stdio: ["ignore", "pipe", "pipe"], env: environment }
  )
  let said = ""
  for (const stream of [container.stdout, container.stderr]) stream.on("data", (bytes: Buffer) => (said += bytes))
  container.on("error", (error) => (said += error.message))
  const close = async () => {
    // At this signal the container is shut down in order.
    await end(container, "SIGTERM", 60_000)
    await remove()
  }
  const run = (line: string): Ran => {
    const words = [
      "--target",
      String(leaderOf(container)),
      "--mount",
      "--uts",
      "--ipc",
      "--net",
      "--pid",
      "--root",
      "--wd"
    ]
    const { status, stderr, stdout } = spawnSync("nsenter", [...words, "/bin/sh", "-c", line], {
      encoding: "utf8",
      env: environment
    })
    return { status, output: `${stdout}${stderr}`.trim() }
  }
  const isUp = () => {
    if (container.exitCode !== null || container.pid === undefined) throw new Error(said)
    return leaderOf(container) !== null && /^(running|degraded)/.test(run("systemctl is-system-running").output)
  }
  try {
    await eventually("systemd is up", () => (isUp() ? true : undefined), bootMs)
  } catch (error) {
    await close()
    return `systemd-nspawn: ${error instanceof Error ? error.message : String(error)} ${said.slice(-500)}`
  }
  return { run, write: (path, text) => writeFileSync(join(root, path), text), close }
}

/** The first process of the container, by its number outside; null: there is none yet. */
const leaderOf = ({ pid }: ChildProcess): number | null => {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")
    return first === undefined || first === "" ? null : Number(first)
  } catch {
    return null
  }
}
