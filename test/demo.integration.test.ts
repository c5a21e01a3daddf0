import { describe, expect, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"

const root = new URL("..", import.meta.url).pathname

const demo = async (environment: Readonly<Record<string, string>>) => {
  const { BASE_URL: _, ...inherited } = process.env
  const child = spawn(process.execPath, ["scripts/demo.ts"], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...inherited, ...environment }
  })
  let told = ""
  child.stdout.on("data", (text: Buffer) => (told += text.toString()))
  child.stderr.on("data", (text: Buffer) => (told += text.toString()))
  const [code] = await once(child, "close")
  return { code: code as number | null, told }
}

describe("The demo", () => {
  it("starts a service of its own and tells a first call from signup to the bill", { timeout: 120_000 }, async () => {
    const { code, told } = await demo({})
    expect(code, told).toBe(0)
    for (const line of [
      /POST \/v1\/signup +201/,
      /number_order\.completed \(signature verified\)/,
      /POST \/v1\/calls +201 initiated/,
      /call\.answered \(signature verified\)/,
      /call\.playback_ended \(signature verified\) +status=completed/,
      /call\.gather_complete \(signature verified\) +digits=1234 status=valid/,
      /call\.ended \(signature verified\) .*end_reason=normal_clearing end_initiator=api/,
      /balance +\$3\.99/
    ])
      expect(told).toMatch(line)
  })

  it("says in one line that there is no service where it was told to look", { timeout: 20_000 }, async () => {
    const { code, told } = await demo({ BASE_URL: "http://127.0.0.1:1" })
    expect(code).toBe(1)
    expect(told).toMatch(/demo failed: POST \/v1\/signup: no answer from http:\/\/127\.0\.0\.1:1/)
  })
})
