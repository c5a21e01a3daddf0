/** Postgres and PgBouncer from Debian, on loopback, as a rented database has them. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { readdirSync } from "node:fs"
import { chmod, chown, mkdir, writeFile } from "node:fs/promises"
import { createServer, connect, type Socket } from "node:net"
import { join } from "node:path"
import { tmpdir } from "node:os"
import * as Service from "./Service.ts"
import type { TestCertificate } from "../../support/network/TestCertificate.ts"

const root = "/usr/lib/postgresql"
const programs = join(root, readdirSync(root).toSorted().at(-1) ?? "", "bin")

/** Postgres refuses to run as root. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

const own = async (path: string): Promise<void> => {
  if (nobody.uid !== undefined) await chown(path, nobody.uid, nobody.gid)
}

const run = (program: string, args: ReadonlyArray<string>): string =>
  execFileSync(join(programs, program), args, { ...nobody, cwd: tmpdir(), encoding: "utf8", stdio: "pipe" })

export interface Postgres {
  readonly port: number
  readonly query: (text: string) => string
  readonly promote: () => void
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>
}

const query = (port: number) => (text: string) =>
  run("psql", ["-h", "127.0.0.1", "-p", `${port}`, "-U", "postgres", "-X", "-A", "-t", "-c", text]).trim()

const launch = async (directory: string): Promise<Postgres> => {
  const port = await Service.freePort()
  const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"]
  const args = ["-D", directory, ...settings.flatMap((setting) => ["-c", setting])]
  const child = spawn(join(programs, "postgres"), args, { ...nobody, cwd: tmpdir(), stdio: "ignore" })
  const ask = query(port)
  await Service.eventually(
    "Postgres answers",
    () => {
      try {
        return ask("SELECT 1")
      } catch {
        return undefined
      }
    },
    60_000
  )
  return {
    port,
    query: ask,
    promote: () => void run("pg_ctl", ["-D", directory, "-w", "promote"]),
    stop: (signal = "SIGINT") => Service.end(child, signal)
  }
}

/** A primary with a user `postgres` whom it trusts. */
export const primary = async (folder: string): Promise<Postgres> => {
  const directory = join(folder, "primary")
  await mkdir(directory, { mode: 0o700 })
  await own(directory)
  run("initdb", ["-D", directory, "-U", "postgres", "-A", "trust", "--locale=C", "-E", "UTF8"])
  return launch(directory)
}

/** A standby that follows the primary. */
export const standbyOf = async (folder: string, of: Postgres): Promise<Postgres> => {
  const directory = join(folder, "standby")
  await mkdir(directory, { mode: 0o700 })
  await own(directory)
  run("pg_basebackup", ["-h", "127.0.0.1", "-p", `${of.port}`, "-U", "postgres", "-D", directory, "-R", "-c", "fast"])
  return launch(directory)
}

/** PgBouncer before that Postgres, with TLS where it gets a certificate. Ends with `Service.end`. */
export const bouncer = async (
  folder: string,
  to: Postgres,
  settings: Readonly<Record<string, string>>,
  certificate: TestCertificate | null = null
): Promise<{ readonly port: number; readonly child: ChildProcess }> => {
  const port = await Service.freePort()
  const place = join(folder, `bouncer-${port}`)
  await mkdir(place)
  await chmod(place, 0o755)
  if (certificate !== null) {
    await writeFile(join(place, "cert.pem"), certificate.cert)
    await writeFile(join(place, "key.pem"), certificate.key)
  }
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    auth_type: "any",
    default_pool_size: "80",
    max_client_conn: "400",
    ...(certificate === null
      ? {}
      : {
          client_tls_sslmode: "require",
          client_tls_cert_file: join(place, "cert.pem"),
          client_tls_key_file: join(place, "key.pem")
        }),
    ...settings
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  const databases = `[databases]\n* = host=127.0.0.1 port=${to.port} user=postgres\n`
  await writeFile(join(place, "ini"), `${databases}[pgbouncer]\n${lines.join("\n")}\n`)
  const child = spawn("pgbouncer", ["-q", join(place, "ini")], { ...nobody, cwd: tmpdir(), stdio: "ignore" })
  await Service.eventually("PgBouncer listens", () => reaches(port), 30_000)
  return { port, child }
}

const reaches = (port: number): Promise<true | undefined> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(undefined))
  })

/** An address that can be moved from one port to another, as the name of a rented database is at a fail-over. */
export const movable = async (first: number) => {
  let target = first
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1")
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on("error", () => to.destroy())
      from.on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  const port = await Service.freePort()
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    move: (to: number) => {
      target = to
      cut()
    },
    close: () => {
      server.close()
      cut()
    }
  }
}
