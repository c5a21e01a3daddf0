import { spawn } from "node:child_process"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FreePorts } from "../../test/support/network/FreePorts.ts"
import { Unexpected } from "./Json.ts"

export interface OwnService {
  readonly baseUrl: string
  /** When it answers; rejects when it ended before. */
  readonly ready: Promise<void>
  /** Ends it and removes its folder. */
  readonly stop: () => Promise<void>
}

const startMs = 90_000
const stopMs = 20_000
const here = new URL("../..", import.meta.url).pathname

/** Passable for the user of an embedded Postgres, who is another one when this is run by root. */
export const makeFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-demo-"))
  await chmod(folder, 0o755)
  return folder
}

/**
 * A service with nothing of the surrounding environment's configuration, but `settings`: that of this checkout unless
 * another `root` is given. Each piece of its log goes to `logged`.
 */
export const spawnIn = (
  folder: string,
  caFile: string,
  ports: FreePorts,
  settings: Readonly<Record<string, string>> = {},
  root: string = here,
  logged: (text: string) => void = () => undefined
): OwnService => {
  const { DATABASE_URL: _database, BASE_URL: _base, SECRET_KEY: _key, ...environment } = process.env
  const child = spawn(process.execPath, ["src/main.ts"], {
    cwd: root,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      ...environment,
      HTTP_HOST: "127.0.0.1",
      HTTP_PORT: String(ports.http),
      OPERATOR_PORT: String(ports.operator),
      SIP_HOST: "127.0.0.1",
      SIP_PORT: String(ports.sip),
      PUBLIC_ADDRESS: "127.0.0.1",
      DATA_DIR: join(folder, "data"),
      ALLOW_PRIVATE_TARGETS: "true",
      TARGET_CA_FILE: caFile,
      DRAIN_SECS: "1",
      LOG_LEVEL: "Warn",
      LOG_FORMAT: "text",
      ...settings
    }
  })
  const baseUrl = `http://127.0.0.1:${ports.http}`
  let said = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-4000)
    logged(text)
  })
  let ended: string | null = null
  const gone = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      ended = `the service ended (${signal ?? code}): ${said.trim() || "it said nothing"}`
      resolve()
    })
    child.once("error", (error) => {
      ended = `the service could not be started: ${error.message}`
      resolve()
    })
  })

  const answers = (): Promise<boolean> =>
    fetch(`${baseUrl}/v1/account`, { signal: AbortSignal.timeout(2000) }).then(
      (response) => response.status < 500,
      () => false
    )

  const awaitReady = async () => {
    const until = Date.now() + startMs
    while (!(await answers())) {
      if (ended !== null) throw new Unexpected(ended)
      if (Date.now() > until)
        throw new Unexpected(`the service did not answer within ${startMs / 1000} s: ${said.trim()}`)
      await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 100))])
    }
  }

  return {
    baseUrl,
    ready: awaitReady(),
    stop: async () => {
      if (ended === null) child.kill("SIGTERM")
      const late = setTimeout(() => child.kill("SIGKILL"), stopMs)
      await gone
      clearTimeout(late)
      await rm(folder, { recursive: true, force: true })
    }
  }
}
