import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as Hostile from "./Hostile.ts"
import * as Measure from "./Measure.ts"
import type * as Phone from "./Phone.ts"
import * as Timeline from "./Timeline.ts"
import * as World from "./World.ts"

/**
 * A member of a room with a hostile far end, over SIP and RTP on loopback: its attacks affect only itself. Three others
 * talk all the while and hear each other without a gap or a click, and at the end the room and the switch agree on the
 * members.
 */
const voices: ReadonlyArray<Phone.Voice> = [450, 750, 1150].map((hz) => ({ hz, dbfs: -20 }))
const host = "127.0.0.2"
const attackMs = 1500
/** Its own sound is not measured. */
const silence = (["PCMU", "PCMA", "G722"] as const).map((name) => {
  const { encoder, frameOctets, payloadType, sampleRate } = Codecs.table[name]
  const payload = new Uint8Array(frameOctets)
  const coder = encoder(null)
  coder.encode(new Int16Array(sampleRate / 50), payload, 0)
  coder.free()
  return { payload, payloadType: payloadType ?? 0 }
})
const [plain] = silence

const random = (below: number): number => Math.floor(Math.random() * below)
const bytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))
const text = (type: string, body: string) => ({ body: { type, bytes: new TextEncoder().encode(body) } })
const session = (address: string, ...media: ReadonlyArray<string>): string =>
  ["v=0", `o=- 1 ${Date.now()} IN IP4 ${host}`, "s=-", `c=IN IP4 ${address}`, "t=0 0", ...media, ""].join("\r\n")
const digit = text("application/dtmf-relay", "Signal=5\r\nDuration=160\r\n")
const codecs = ["PCMU", "PCMA", "G722", "OPUS"] as const

let sequence = 0
/** Sends packets of RTP, 10,000 a second. */
const flood = (far: Hostile.FarEnd, make: (n: number) => Uint8Array): void => {
  for (let n = 0; n < 100; n++) far.send(make(n))
}
const next = () => ({ sequenceNumber: ++sequence & 0xffff, timestamp: (sequence * 160) >>> 0 })

/** The attacks: name, interval in ms, and action. */
const attacks: ReadonlyArray<readonly [what: string, everyMs: number, act: (far: Hostile.FarEnd, n: number) => void]> =
  [
    ["floods with sound", 10, (far) => flood(far, () => Hostile.packet(next(), plain?.payload ?? bytes(0)))],
    [
      "floods with sources",
      10,
      (far) => {
        const any = () => ({ sequenceNumber: random(2 ** 16), timestamp: random(2 ** 32), ssrc: random(2 ** 32) })
        flood(far, () => Hostile.packet(any(), plain?.payload ?? bytes(0)))
      }
    ],
    [
      "floods with payload types that nobody knows",
      10,
      (far) => flood(far, () => Hostile.packet({ ...next(), payloadType: 20 + random(50) }, bytes(160)))
    ],
    [
      "floods with three codecs in turns",
      10,
      (far) =>
        flood(far, (n) => {
          const { payload, payloadType } = silence[n % silence.length] ?? { payload: bytes(0), payloadType: 0 }
          return Hostile.packet({ ...next(), payloadType }, payload)
        })
    ],
    [
      "floods with packets of no size and of 60,000 octets",
      10,
      (far) => flood(far, (n) => Hostile.packet(next(), new Uint8Array(n % 10 === 0 ? 60_000 : random(3)).fill(0xff)))
    ],
    ["floods with what is no RTP", 10, (far) => flood(far, () => bytes(random(200)).fill(0, 0, 1))],
    [
      "floods with what may be RTCP",
      10,
      (far) => {
        for (let n = 0; n < 100; n++) {
          const report = bytes(8 + random(200))
          report.set([0x80 + random(32), 200 + random(8)])
          far.send(report, "rtcp")
        }
      }
    ],
    [
      "floods with digits",
      10,
      (far) =>
        flood(far, (n) => Hostile.packet({ ...next(), payloadType: 101 }, Uint8Array.of(n % 16, 0x8a, 3, random(256))))
    ],
    [
      "is held and back, 200 times a second",
      5,
      (far, n) => far.invite(["PCMU"], n % 2 === 0 ? "inactive" : "sendrecv")
    ],
    ["changes its codec 200 times a second", 5, (far, n) => far.invite(codecs.filter((_, at) => at !== n % 4))],
    ["changes its port 200 times a second", 5, (far) => far.invite(["PCMU"], "sendrecv", 20_000 + 2 * random(5000))],
    [
      "never acknowledges what its offers were answered with",
      20,
      (far, n) => {
        far.acknowledges(false)
        far.invite(["PCMU"], n % 2 === 0 ? "sendonly" : "sendrecv")
      }
    ],
    ["lets us offer and does not answer", 20, (far) => far.ask("INVITE")],
    [
      "offers what makes no sense",
      10,
      (far, n) => {
        const offers = [
          "x",
          "v=0\r\n",
          session(host),
          session("0.0.0.0", "m=audio 0 RTP/AVP 0"),
          session("0.0.0.0", "m=audio 4000 RTP/AVP 0"),
          session("255.255.255.255", "m=audio 65535 RTP/AVP 0"),
          session(host, ...Array.from({ length: 1500 }, () => "m=audio 4000 RTP/AVP 0 8 9"))
        ]
        far.describe(offers[n % offers.length] ?? "")
      }
    ],
    [
      "sends digits, referrals and what nobody knows, 1,000 a second",
      5,
      (far) => {
        far.ask("INFO", digit)
        far.ask("REFER", { headers: [["Refer-To", "<sip:+4930999@example.com>"]] })
        for (const method of ["UPDATE", "NOTIFY", "NONSENSE"]) far.ask(method)
      }
    ],
    [
      "hangs up again and again, and goes on",
      20,
      (far, n) => {
        far.ask("BYE")
        far.invite(["PCMU"])
        far.send(Hostile.packet(next(), bytes(160)))
        if (n % 2 === 0) far.ask("CANCEL")
      }
    ]
  ]

let world: World.World
let far: Hostile.FarEnd
let route = ""
let lines: ReadonlyArray<World.Line> = []
let room = ""
const figures = ["media_legs", "conference_members", "calls_live"] as const
const read = () => Promise.all(figures.map((name) => world.metric(name)))

const act = (verb: string, body: object) => world.ask("POST", `/v1/conferences/${room}/actions/${verb}/`, body)
const join = async (id: string): Promise<void> => {
  await act("join", { call_id: id })
  await world.event("conference.member_joined", id)
}
/** Returns the members by the conference, by the switch, and those on which the two disagree. */
const members = async () => {
  const { results } = await world.ask("GET", `/v1/conferences/${room}/participants/list/`)
  const upstream = await world.ask("GET", `/v1/conferences/${room}/participants/upstream/`)
  return {
    room: results.map((each) => each.call_id).toSorted(),
    upstream: upstream.results.map((each) => each.call_id).toSorted(),
    drift: upstream.results.filter(({ drift }) => drift)
  }
}

beforeAll(async () => {
  world = await World.start()
  far = await Hostile.open(world.sipPort, host)
  route = await world.route("hostile", host, far.port)
  lines = await Promise.all(voices.map((voice) => world.callIn(world.plan("PCMU", voice))))
  const [first, ...others] = lines
  room = (await world.ask("POST", "/v1/conferences/", { name: "room", host_call_id: first?.id })).id
  await world.event("conference.member_joined", first?.id ?? "")
  for (const { id } of others) await join(id)
}, 90_000)
afterAll(async () => {
  far?.close()
  await world?.stop()
})

const now = (): number => performance.timeOrigin + performance.now()
const late = async (): Promise<number> =>
  (await Promise.all(lines.map(({ number }) => world.phones.state(number)))).reduce(
    (sum, state) => sum + state.lateMs,
    0
  )

describe("A member that", World.onceMore, () => {
  it.each(attacks)("%s is noticed by nobody else in its room", async (_what, everyMs, attack) => {
    const { id } = await world.ask("POST", "/v1/calls", { from: world.own, to: world.number(), route_id: route })
    await world.event("call.answered", id)
    await join(id)
    far.acknowledges(true)
    await World.sleep(300)
    const [fromMs, before] = [now(), await late()]
    for (let n = 0; now() < fromMs + attackMs; n++) {
      attack(far, n)
      await World.sleep(everyMs)
    }
    const toMs = now()
    await World.sleep(200)
    // Hangs up, in case it has not ended itself.
    await world.send("POST", `/v1/calls/${id}/actions/hangup`, {})
    await world.event("call.ended", id)

    const stood = (await world.stoodWithin(fromMs, toMs)) + (await late()) - before
    for (const [at, line] of lines.entries()) {
      const all = await world.heard(line)
      const heard = Timeline.part(all, fromMs - all.fromMs, toMs - all.fromMs)
      const others = voices.filter((_voice, of) => of !== at)
      for (const voice of others) {
        const span = Measure.span(heard, voice)
        expect(span.dbfs).closeTo(voice.dbfs, 1)
        expect(span.gapMs, `what ${at} hears of ${voice.hz} Hz`).toBeLessThanOrEqual(40 + stood)
        expect(span.toMs - span.fromMs).toBeGreaterThan(attackMs - 100 - stood)
      }
      const steady = Timeline.part(all, fromMs - all.fromMs - 300, fromMs - all.fromMs)
      expect(Measure.clicks(heard, { codecs: ["PCMU"], voices: others, stood }, [steady])).toEqual([])
    }
    const there = lines.map((line) => line.id).toSorted()
    const agreed = JSON.stringify({ room: there, upstream: there, drift: [] })
    await World.until("it is agreed upon who is there", async () =>
      JSON.stringify(await members()) === agreed ? true : undefined
    )
  })

  it("has left nothing behind when the room has ended", async () => {
    await act("end", {})
    for (const { id } of lines) await world.event("call.ended", id)
    // Only the call beside them is left.
    await World.until("nothing is left", async () => ((await read()).join() === "1,0,1" ? true : undefined))
  })
})
