/**
 * Real audio in one room: two real phones and three simulated ones, each with a different tone. The recordings of the
 * calls, of the phones and of the room show which members hear which.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Wav from "../../src/protocol/audio/file/Wav.ts"
import * as Click from "../media/mix/Click.ts"
import * as RecorderWorld from "../telephony/recording/RecorderWorld.ts"
import * as Goertzel from "../support/Goertzel.ts"
import * as TestCertificate from "../support/network/TestCertificate.ts"
import * as Baresip from "./peer/Baresip.ts"
import * as Receiver from "./peer/Receiver.ts"
import * as Service from "./peer/Service.ts"
import * as Sound from "./peer/Sound.ts"

const own = "+12025550150"
const phoneNumber = "+4930123456"
const levelDbfs = -20
/** The tone of each member in Hz. The host is a real phone. */
const says = { host: 761, guest: 1637, low: 439, middle: 1151, high: 2239 } as const
type Name = keyof typeof says
const names = Object.keys(says) as ReadonlyArray<Name>
const simulated: ReadonlyArray<readonly [Name, string]> = [
  ["low", "+12025550124"],
  ["middle", "+12025550125"],
  ["high", "+12025550126"]
]
/** How long each stretch lasts; `guardMs` at each end are ignored. */
const stretchMs = 2_000
const guardMs = 500

let service: Service.Service
let receiver: Receiver.Receiver
let tenant: Service.Tenant
const phones = new Map<Name, Baresip.Baresip>()

const phone = async (name: "host" | "guest") => {
  const made = await Baresip.start({
    folder: service.folder,
    name: phoneNumber,
    home: name,
    answers: true,
    codec: "PCMU",
    voice: Tone.sine(says[name], levelDbfs, 120_000, 8000)
  })
  phones.set(name, made)
  return made
}

beforeAll(async () => {
  const authority = TestCertificate.makeAuthority()
  service = await Service.start(authority.cert)
  receiver = await Receiver.start(
    service.folder,
    authority,
    Wav.write({ sampleRate: 8000, samples: new Int16Array(8000) })
  )
  const [host, guest] = [await phone("host"), await phone("guest")]
  tenant = await Service.makeTenant(service, host.port, own)
  const trunk = ["--host", "127.0.0.1", "--port", String(guest.port), "--options", "off"]
  await service.operator("route", "add", "--tenant", tenant.id, "--name", "guest", ...trunk)
  await receiver.subscribe(tenant)
}, 300_000)

afterAll(async () => {
  for (const each of phones.values()) await each.stop()
  await receiver?.stop()
  await service?.stop()
})

interface Member {
  readonly name: Name
  readonly callId: string
  readonly legId: string
  /** When its call was answered and its recording began, by the clock of this machine. */
  readonly since: number
}

/** Calls a member, whose call is recorded from its answer on. */
const called = async (name: Name, to: string, routeId: string | null): Promise<Member> => {
  const { id } = await tenant.request("POST", "/v1/calls", {
    from: own,
    to,
    ...(routeId === null ? {} : { route_id: routeId }),
    record: "on_answer",
    record_channels: "dual",
    record_format: "wav"
  })
  const callId = String(id)
  await receiver.next("call.answered", callId)
  const call = await tenant.call(callId)
  const [leg] = call["legs"] as ReadonlyArray<Service.Json>
  return { name, callId, legId: String(leg?.["id"]), since: Date.parse(String(call["answered_at"])) }
}

const everybody = async (): Promise<ReadonlyArray<Member>> => {
  const { results } = await tenant.request("GET", "/v1/connections")
  const routes = results as ReadonlyArray<Service.Json>
  const route = (name: string) => String(routes.find((each) => each["name"] === name)?.["id"])
  const simulator = String(routes.find((each) => !["trunk", "guest"].includes(String(each["name"])))?.["id"])
  return Promise.all([
    called("host", phoneNumber, null),
    called("guest", phoneNumber, route("guest")),
    ...simulated.map(([name, to]) => called(name, to, simulator))
  ])
}

interface Stretch {
  readonly from: number
  readonly to: number
}

/** A channel of a recording, and when it began. */
interface Track {
  readonly samples: Int16Array
  readonly rate: number
  readonly since: number
}

const within = ({ rate, samples, since }: Track, { from, to }: Stretch, guard = guardMs) =>
  samples.subarray(
    Math.max(0, Math.round(((from + guard - since) * rate) / 1000)),
    Math.max(0, Math.round(((to - guard - since) * rate) / 1000))
  )

/**
 * The talkers that are heard in it: those at their level, by the half second in which each is loudest (a late packet
 * shifts the sound after it). Every other is at least 40 dB below.
 */
const heard = (track: Track, stretch: Stretch): ReadonlyArray<Name> => {
  const samples = within(track, stretch)
  expect(samples.length, "it was recorded").toBeGreaterThan(track.rate / 2)
  return names.filter((name) => {
    const { tone: level } = Sound.loudest([{ sampleRate: track.rate, samples }], says[name])
    if (level < levelDbfs - 40) return false
    expect(level, `${name} at its level`).closeTo(levelDbfs, 1)
    return true
  })
}

const allBut = (...out: ReadonlyArray<Name>) => names.filter((name) => !out.includes(name))

/** The longest run of pieces of 5 ms that are quieter than -50 dBFS, in milliseconds. */
const longestGap = (samples: Int16Array, rate: number): number => {
  const length = (rate * 5) / 1000
  let [longest, run] = [0, 0]
  for (let at = 0; at + length <= samples.length; at += length) {
    run = Goertzel.totalLevel(samples.subarray(at, at + length)) < -50 ? run + 5 : 0
    longest = Math.max(longest, run)
  }
  return longest
}

const tracks = async (url: unknown, since: number): Promise<readonly [Track, Track]> => {
  const answer = await fetch(String(url))
  const { channels, rate } = RecorderWorld.wav(new Uint8Array(await answer.arrayBuffer()))
  const [left, right] = channels
  if (left === undefined || right === undefined) throw new Error("there are two channels")
  return [
    { samples: left, rate, since },
    { samples: right, rate, since }
  ]
}

describe("A room of real and simulated phones", () => {
  it(
    "lets each hear the others and never itself, as mute, hold, whispers and a phone's own hold say",
    { timeout: 180_000 },
    async () => {
      const members = await everybody()
      const of = (name: Name): Member => {
        const found = members.find((each) => each.name === name)
        if (found === undefined) throw new Error(`nobody is ${name}`)
        return found
      }
      const { id } = await tenant.request("POST", "/v1/conferences/", {
        name: "tones",
        host_call_id: of("host").callId
      })
      const act = (verb: string, body: object) =>
        tenant.request("POST", `/v1/conferences/${String(id)}/actions/${verb}/`, body)
      await receiver.next("conference.member_joined", of("host").callId)
      for (const { callId } of members.slice(1)) {
        await act("join", { call_id: callId })
        await receiver.next("conference.member_joined", callId)
      }
      const stretch = async (before: () => Promise<unknown> = async () => undefined): Promise<Stretch> => {
        await before()
        const from = Date.now()
        await Service.sleep(stretchMs)
        return { from, to: Date.now() }
      }
      const legs = (name: Name) => ({ leg_ids: [of(name).legId] })

      await act("record_start", { channels: "dual", format: "wav" })
      const recordedSince = Date.now()
      const all = await stretch()
      const muted = await stretch(() => act("mute", legs("low")))
      await act("unmute", legs("low"))
      const held = await stretch(() => act("hold", legs("middle")))
      await act("unhold", legs("middle"))
      const whispered = await stretch(() =>
        act("supervise", { leg_id: of("high").legId, role: "whisper", whisper_leg_ids: [of("host").legId] })
      )
      await act("supervise", { leg_id: of("high").legId, role: "none" })
      const away = await stretch(async () => phones.get("guest")?.command("hold"))
      const back = await stretch(async () => phones.get("guest")?.command("resume"))
      const ended = Date.now()
      await act("end", {})
      for (const { callId } of members)
        expect((await receiver.next("call.ended", callId)).data["end_reason"]).toBe("conference_ended")

      const stored = await Service.eventually(
        "all recordings",
        () => {
          const done = receiver.received.filter(({ event_type: type }) => type === "recording.completed")
          return done.length > members.length ? done : undefined
        },
        60_000
      )
      const ofRoom = stored.find(({ data }) => data["conference_id"] === id)
      for (const { callId, name, since } of members) {
        const recording = stored.find(({ data }) => data["call_id"] === callId && data["conference_id"] !== id)
        const [said, hears] = await tracks(recording?.data["download_url"], since)
        const who = { all, muted, held, whispered, away, back }
        const found = Object.fromEntries(Object.entries(who).map(([what, when]) => [what, heard(hears, when)]))
        expect({ name, ...found }).toEqual({
          name,
          all: allBut(name),
          muted: allBut(name, "low"),
          held: name === "middle" ? [] : allBut(name, "middle"),
          whispered: name === "host" || name === "high" ? allBut(name) : allBut(name, "high"),
          away: name === "guest" ? expect.any(Array) : allBut(name, "guest"),
          back: allBut(name)
        })
        if (name !== "guest") expect(heard(said, all)).toEqual([name])
        expect(longestGap(within(hears, all), hears.rate), `gaps of ${name}`).toBeLessThan(40)
        // A click is louder than the steady sound beside it.
        const steady = Click.largest(within(hears, all))
        const changing = within(hears, { from: all.from, to: name === "guest" ? away.from : ended }, 0)
        expect(Click.largest(changing) / steady, `clicks of ${name}`).toBeLessThan(2)
      }

      const [host, others] = await tracks(ofRoom?.data["download_url"], recordedSince)
      expect([all, muted, whispered].map((when) => heard(host, when))).toEqual([["host"], ["host"], ["host"]])
      expect(heard(others, all)).toEqual(allBut("host"))
      expect(heard(others, muted)).toEqual(allBut("host", "low"))
      expect(heard(others, held)).toEqual(allBut("host", "middle"))
      expect(heard(others, whispered), "a whisper is not recorded").toEqual(allBut("host", "high"))

      // The real phones' own recordings count, too.
      for (const [name, real] of phones) {
        const recorded = await real.heard()
        for (const other of allBut(name))
          expect(Sound.loudest(recorded, says[other]).tone, `${name} hears ${other}`).closeTo(levelDbfs, 1.5)
        expect(Sound.loudest(recorded, says[name]).tone, `${name} does not hear itself`).toBeLessThan(levelDbfs - 35)
      }
      expect(receiver.failures).toEqual([])
    }
  )
})
