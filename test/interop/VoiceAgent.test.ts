/** The sample voice agent on the telephone: a real phone calls it, hears it, interrupts it, and is answered. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { listen } from "../../scripts/examples/voice-agent.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Goertzel from "../support/Goertzel.ts"
import * as TestCertificate from "../support/network/TestCertificate.ts"
import * as Baresip from "./peer/Baresip.ts"
import * as Service from "./peer/Service.ts"

const phoneNumber = "+4930123456"
const own = "+12025550190"
/** The first harmonic of the agent's sound, which is a square wave. */
const agentHz = 500
const silence = (ms: number) => new Int16Array(8 * ms)
const said = Tone.sine(700, -14, 1_000, 8000)
/** Interrupts the greeting, hears the answer to its end, and speaks again. */
const voice = Int16Array.from([silence(1_200), said, silence(60_000)].flatMap((part) => [...part]))

let service: Service.Service
let phone: Baresip.Baresip

const authority = TestCertificate.makeAuthority()
beforeAll(async () => {
  service = await Service.start(authority.cert)
  phone = await Baresip.start({ folder: service.folder, name: phoneNumber, home: "agent", answers: true, voice })
})
afterAll(async () => {
  await phone?.stop()
  await service?.stop()
})

describe("The sample voice agent", () => {
  it(
    "holds a conversation with a real phone: nothing of what was interrupted is heard",
    { timeout: 90_000 },
    async () => {
      const tenant = await Service.makeTenant(service, phone.port, own)
      const lines: Array<string> = []
      const agent = listen(0, {
        api: service.baseUrl,
        key: tenant.key,
        streamUrl: () => `wss://127.0.0.1:${port}/`,
        tls: authority.issue(["127.0.0.1"]),
        log: (line) => void lines.push(line)
      })
      await once(agent, "listening")
      const { port } = agent.address() as AddressInfo
      try {
        await tenant.request("POST", "/v1/webhook-subscriptions", {
          target_url: `https://127.0.0.1:${port}/`,
          event_types: ["*"]
        })
        phone.command("dial", `sip:${own}@127.0.0.1:${service.sipPort}`)
        await phone.event("CALL_ESTABLISHED")
        await Service.eventually("the answer is heard", () => (lines.includes("has said an answer") ? true : undefined))
        phone.command("hangup")
        await phone.event("CALL_CLOSED")
        expect(lines).toEqual([
          "answer 200",
          "says hello",
          "is interrupted",
          "did not finish hello",
          "says an answer",
          "has said an answer"
        ])
        const [heard] = await phone.heard()
        if (heard === undefined) throw new Error("the phone heard nothing")
        // Whether the agent is heard, in tenths of a second.
        const tenth = heard.sampleRate / 10
        const talks = Array.from(
          { length: Math.floor(heard.samples.length / tenth) },
          (_, i) => Goertzel.level(heard.samples.subarray(i * tenth, (i + 1) * tenth), agentHz, heard.sampleRate) > -30
        )
        const stretches = talks
          .map((isOn) => (isOn ? "1" : "0"))
          .join("")
          .split(/0+/)
          .filter((stretch) => stretch !== "")
        expect(stretches.length).toBe(2)
        // The greeting lasts two seconds, and was interrupted a good second after it began.
        expect(stretches[0]?.length).toBeLessThan(18)
        expect(stretches[1]?.length).toBeGreaterThanOrEqual(19)
        expect(stretches[1]?.length).toBeLessThanOrEqual(22)
      } finally {
        agent.closeAllConnections()
        agent.close()
      }
    }
  )
})
