/**
 * OpenStack Swift with its S3 API, from Debian: a real peer for storage in a bucket. One device, one replica, four
 * processes on loopback, no memcached.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as RequestSignature from "../../../src/ports/storage/s3/RequestSignature.ts"
import * as Service from "./Service.ts"

export interface Swift {
  /** The URL of an existing bucket. */
  readonly url: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** The keys of the bucket's objects. */
  readonly keys: () => Promise<ReadonlyArray<string>>
  /** An object as the store has it. */
  readonly read: (key: string) => Promise<Uint8Array>
  /** Stops the store; `up` starts it again with all its data. */
  readonly down: () => Promise<void>
  readonly up: () => Promise<void>
  readonly stop: () => Promise<void>
}

const host = "127.0.0.1"
const device = "disk"
const bucket = "/recordings"
const credentials = { accessKeyId: "test:tester", secretAccessKey: "testing", region: "us-east-1" }
const servers = ["account", "container", "object"] as const
/** Four Python interpreters start, on cores that other programs may use. */
const startsWithinMs = 180_000

const proxy = (port: number, folder: string): string => `
[DEFAULT]
bind_ip = ${host}
bind_port = ${port}
swift_dir = ${folder}
user = root
workers = 0
log_level = WARNING

[pipeline:main]
pipeline = catch_errors cache listing_formats s3api tempauth copy slo proxy-server

[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true

[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = ${host}:9
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = ${credentials.secretAccessKey} .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
`

const backend = (server: string, port: number, folder: string): string => `
[DEFAULT]
bind_ip = ${host}
bind_port = ${port}
swift_dir = ${folder}
devices = ${join(folder, "devices")}
mount_check = false
user = root
workers = 0
log_level = WARNING

[pipeline:main]
pipeline = ${server}-server

[app:${server}-server]
use = egg:swift#${server}
`

export const start = async (folder: string): Promise<Swift> => {
  const home = join(folder, "swift")
  await mkdir(join(home, "devices", device), { recursive: true })
  const port = await Service.freePort()
  await writeFile(join(home, "proxy.conf"), proxy(port, home))
  for (const server of servers) {
    const at = await Service.freePort()
    await writeFile(join(home, `${server}.conf`), backend(server, at, home))
    const builder = join(home, `${server}.builder`)
    for (const words of [["create", "4", "1", "0"], ["add", `r1z1-${host}:${at}/${device}`, "1"], ["rebalance"]])
      execFileSync("swift-ring-builder", [builder, ...words], { stdio: "ignore" })
  }

  const signed = (method: string, key: string) => {
    const path = `${bucket}${key === "" ? "" : `/${RequestSignature.pathOf(key)}`}`
    const { host: _, ...headers } = RequestSignature.sign(credentials, {
      method,
      path,
      headers: { host: `${host}:${port}` },
      bodyHash: RequestSignature.ofNothing,
      at: Date.now()
    })
    return fetch(`http://${host}:${port}${path}`, { method, headers })
  }
  let running: ReadonlyArray<ChildProcess> = []
  let said = ""
  const up = async () => {
    running = ["proxy", ...servers].map((server) => {
      const child = spawn(`swift-${server}-server`, [join(home, `${server}.conf`)], {
        stdio: ["ignore", "pipe", "pipe"]
      })
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (text: Buffer) => {
          said = (said + text.toString()).slice(-4_000)
        })
      return child
    })
    await Service.eventually(
      "Swift's bucket",
      async () => {
        if (running.some(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null))
          throw new Error("one of its servers ended")
        const answer = await signed("PUT", "").catch(() => null)
        return answer?.status === 200 || answer?.status === 409 ? true : undefined
      },
      startsWithinMs
    ).catch(async (error: unknown) => {
      await down()
      throw new Error(`Swift did not start: ${said}`, { cause: error })
    })
  }
  const down = async () => {
    for (const child of running) await Service.end(child, "SIGTERM", 5_000)
    running = []
  }
  await up()
  return {
    url: `http://${host}:${port}${bucket}`,
    ...credentials,
    keys: async () =>
      [...(await (await signed("GET", "")).text()).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key ?? ""),
    read: async (key) => new Uint8Array(await (await signed("GET", key)).arrayBuffer()),
    down,
    up,
    stop: down
  }
}
