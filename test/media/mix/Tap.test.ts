import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Bridge from "../../../src/media/mix/Bridge.ts"
import type { Tap, TapEnd, Track } from "../../../src/media/mix/Tap.ts"
import * as Taps from "../../../src/media/mix/Tap.ts"
import * as LocalLeg from "../../../src/media/plane/LocalLeg.ts"
import * as RtpLeg from "../../../src/media/rtp/RtpLeg.ts"
import * as RtpSample from "../../protocol/rtp/RtpSample.ts"
import * as Ids from "../../support/Ids.ts"
import * as FakeLeg from "../support/FakeLeg.ts"
import * as Media from "../support/MediaSample.ts"
import * as MemoryNetwork from "../support/MemoryNetwork.ts"
import * as SwitchBench from "../SwitchBench.ts"
import * as NoStreams from "../stream/NoStreams.ts"

/** A tap that records each frame it hears: track, time, rate, first sample. */
const listener = (tracks: ReadonlyArray<Track> = ["inbound", "outbound"], disturb: () => void = () => undefined) => {
  const heard: Array<string> = []
  const ends: Array<TapEnd> = []
  const tap: Tap = {
    wants: (track) => tracks.includes(track),
    hear: (track, { rate, samples }, at) => {
      heard.push(`${track} ${at} ${rate} ${samples[0]}`)
      disturb()
    },
    ended: (reason) => void ends.push(reason)
  }
  return { tap, heard, ends }
}
const setup = (clock: () => number = () => 0, cpuClock = clock) => {
  let value = 0
  const fake = FakeLeg.make({ clock, cpuClock, say: ({ samples }) => void samples.fill(++value) })
  let now = 0
  return {
    ...fake,
    run: (ms: number) => {
      for (const end = now + ms; now < end;) fake.leg.tick((now += 20))
    }
  }
}

describe("A tap", () => {
  it("hears both directions of a leg, with time and rate, in order and without holes", () => {
    const { leg, present, run } = setup()
    const both = listener()
    const one = listener(["outbound"])
    for (const { tap } of [both, one]) leg.taps.add(tap)
    present.isReady = false
    run(20)
    present.isReady = true
    leg.command(Media.play(Ids.work("p"), "https://a/"))
    leg.player.supply(Ids.work("p"), { rate: 8000, samples: new Int16Array(480).fill(900) }, true)
    run(20)
    present.rate = 16_000
    run(20)
    expect(both.heard.map((line) => line.replace(/(outbound 60 16000) .*/, "$1"))).toEqual([
      "inbound 20 8000 1",
      "outbound 20 8000 0",
      "inbound 40 8000 2",
      "outbound 40 8000 0",
      "inbound 60 16000 3",
      "outbound 60 16000"
    ])
    expect(one.heard.length).toBe(3)
  })

  it("that waits with its thread for a processor stays; one that keeps the processor is taken off", () => {
    let [time, worked] = [0, 0]
    const waiting = listener(["inbound"], () => (time += 100))
    const working = listener(["inbound"], () => (worked += Taps.limitMs + 1) + (time += 100))
    const { leg, run } = setup(
      () => time,
      () => worked
    )
    for (const { tap } of [waiting, working]) leg.taps.add(tap)
    run(400)
    expect(working.ends).toEqual(["slow"])
    expect(working.heard.length).toBe(Taps.maxLate)
    expect(waiting.ends).toEqual([])
    expect(waiting.heard.length).toBe(20)
  })

  it("that is slow three frames in a row is taken off and told so; one that is slow now and then stays", () => {
    let time = 0
    const { leg, run } = setup(() => time)
    let calls = 0
    const slow = listener(["inbound"], () => (time += Taps.limitMs + 1))
    const seldom = listener(["inbound"], () => (time += ++calls % 3 === 0 ? 1 : Taps.limitMs + 1))
    for (const { tap } of [slow, seldom]) leg.taps.add(tap)
    run(400)
    expect(slow.heard.length).toBe(Taps.maxLate)
    expect(slow.ends).toEqual(["slow"])
    expect(seldom.heard.length).toBe(20)
    expect(seldom.ends).toEqual([])
  })

  it("that throws is taken off and told so, and all others and the leg go on", () => {
    const { defects, faults, heard, leg, run } = setup()
    const bad = listener(["inbound"], () => {
      throw new Error("tap")
    })
    const worse: Tap = {
      ...bad.tap,
      ended: () => {
        throw new Error("end")
      }
    }
    const good = listener(["inbound"])
    for (const tap of [bad.tap, worse, good.tap]) leg.taps.add(tap)
    run(100)
    expect(bad.heard.length).toBe(2)
    expect(bad.ends).toEqual(["failed"])
    expect(good.heard.length).toBe(5)
    expect(defects.length).toBe(3)
    expect(faults).toEqual([])
    expect(heard.length).toBe(5 * 160)
  })

  it("hears of each packet of its leg as it arrives, before its sound is played, and nobody does without such a tap", () => {
    const network = MemoryNetwork.make()
    const rtp = RtpLeg.make({
      random: () => 5,
      wallClock: () => 0,
      mediaTimeoutMs: 0,
      emit: () => undefined,
      onDigit: () => true,
      onHeld: () => undefined
    })
    let port = 0
    network.port.open(
      (channel, bytes, from) => rtp.receive(channel, bytes, from, now),
      (socket) => {
        if (socket === null) return
        port = socket.port
        rtp.attach(socket)
      }
    )
    rtp.connect(SwitchBench.make().remote(9000), 0)
    const defects: Array<unknown> = []
    const leg = LocalLeg.make(rtp.far, {
      clock: () => 0,
      emit: () => undefined,
      want: () => undefined,
      unwant: () => undefined,
      captured: () => undefined,
      ask: () => undefined,
      streams: NoStreams.make(),
      onDefect: (error) => void defects.push(error),
      onFault: (error) => void defects.push(error)
    })
    const frames = listener(["inbound"])
    const packets: Array<string> = []
    const early: Tap = {
      ...frames.tap,
      wants: () => false,
      arrived: (packet, codec, at) =>
        void packets.push(`${packet.sequenceNumber} ${codec} ${packet.bytes[packet.payloadStart]} ${at}`)
    }
    const bad: Tap = {
      ...early,
      arrived: () => {
        throw new Error("tap")
      }
    }
    let now = 0
    const arrive = (sequenceNumber: number, payloadType = 0) =>
      network.receive({
        channel: "rtp",
        bytes: RtpSample.write({
          payloadType,
          marker: false,
          sequenceNumber,
          timestamp: sequenceNumber * 160,
          ssrc: 7,
          payload: new Uint8Array(160).fill(sequenceNumber)
        }),
        from: { address: "127.0.0.1", port: 9000 },
        to: { address: "127.0.0.1", port }
      })
    const step = (sequenceNumber: number, payloadType = 0) => {
      now += 20
      arrive(sequenceNumber, payloadType)
      leg.tick(now + 10)
    }
    step(1)
    for (const tap of [bad, early, frames.tap]) leg.taps.add(tap)
    step(3)
    step(2, 8)
    step(4, 101)
    step(5, 77)
    leg.taps.remove(early)
    step(6)
    expect(packets).toEqual(["3 PCMU 3 40", "2 PCMA 2 60"])
    expect(frames.heard.length).toBe(5)
    expect(defects.length).toBe(1)
  })

  const manners = Schema.Literals(["quiet", "throws", "slow", "writes", "leaves", "throws at its end"])
  it.prop(
    "never changes what its leg, the bridged leg or another tap hears, whatever it does",
    {
      taps: Schema.Array(
        Schema.Struct({ manner: manners, after: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 })) })
      ).check(Schema.isMaxLength(6))
    },
    ({ taps }) => {
      const play = (others: typeof taps) => {
        let time = 0
        let value = 0
        const one = FakeLeg.make({ clock: () => time, say: ({ samples }) => void samples.fill(++value) })
        const two = FakeLeg.make({ clock: () => time, say: ({ samples }) => void samples.fill(-value) })
        Bridge.make(one.leg, two.leg)
        const last = listener()
        for (const { after, manner } of others) {
          let frames = 0
          const tap: Tap = {
            wants: () => true,
            hear: (_, { samples }) => {
              if (manner === "writes") samples.fill(31_000)
              if (manner === "slow") time += 50
              if (++frames < after) return
              if (manner === "leaves") one.leg.taps.remove(tap)
              if (manner.startsWith("throws")) throw new Error(manner)
            },
            ended: (reason) => {
              if (manner === "throws at its end") throw new Error(reason)
            }
          }
          one.leg.taps.add(tap)
        }
        one.leg.taps.add(last.tap)
        for (let now = 0; now < 300; now += 20) {
          one.leg.tick(now)
          two.leg.tick(now + 5)
        }
        return { heard: [one.heard, two.heard], tapped: last.heard, faults: [...one.faults, ...two.faults] }
      }
      expect(play(taps)).toEqual(play([]))
    },
    { arbitrary: { runs: 60 } }
  )

  it.each(["inbound", "outbound"] as const)("that is slow on one track only (%s) is taken off too", (slowTrack) => {
    let time = 0
    const { leg, run } = setup(() => time)
    const ends: Array<TapEnd> = []
    leg.taps.add({
      wants: () => true,
      hear: (track) => {
        if (track === slowTrack) time += Taps.limitMs + 1
      },
      ended: (reason) => void ends.push(reason)
    })
    run(400)
    expect(ends).toEqual(["slow"])
  })

  it("that closes its leg while it hears is told the end once, and no tap hears anything behind its end", () => {
    let time = 0
    const one = FakeLeg.make({ clock: () => time, say: ({ samples }) => void samples.fill(100) })
    const two = FakeLeg.make({ clock: () => time, say: ({ samples }) => void samples.fill(200) })
    Bridge.make(one.leg, two.leg)
    const log: Array<string> = []
    const closing: Tap = {
      wants: () => true,
      hear: (track, _, at) => {
        log.push(`closing ${track} ${at}`)
        if (at < 40) return
        time += 100
        one.leg.close(at)
        throw new Error("closed")
      },
      ended: (reason) => void log.push(`closing ${reason}`)
    }
    const other: Tap = {
      wants: () => true,
      hear: (track, _, at) => void log.push(`other ${track} ${at}`),
      ended: (reason) => void log.push(`other ${reason}`)
    }
    for (const tap of [closing, other]) one.leg.taps.add(tap)
    for (const now of [20, 40, 60]) {
      two.leg.tick(now)
      if (!one.present.isClosed) one.leg.tick(now + 5)
    }
    for (const who of ["closing", "other"]) {
      const own = log.filter((line) => line.startsWith(who))
      expect(own.filter((line) => line.endsWith("closed"))).toEqual([`${who} closed`])
      expect(own.at(-1)).toBe(`${who} closed`)
    }
    expect(two.faults).toEqual([])
    expect(two.leg.isJoined()).toBe(false)
  })

  it("that is late for the last time while it leaves is told nothing", () => {
    let time = 0
    const { leg, run } = setup(() => time)
    let frames = 0
    const leaving = listener(["inbound"], () => {
      time += Taps.limitMs + 1
      if (++frames === Taps.maxLate) leg.taps.remove(leaving.tap)
    })
    leg.taps.add(leaving.tap)
    run(200)
    expect(leaving.ends).toEqual([])
  })

  it("is refused past the bound, and by a leg that is closed", () => {
    const { leg } = setup()
    const added = Array.from({ length: Taps.maxTaps + 1 }, () => leg.taps.add(listener().tap))
    expect(added).toEqual([...Array.from({ length: Taps.maxTaps }, () => true), false])
    leg.close(20)
    expect(leg.taps.add(listener().tap)).toBe(false)
  })

  it("that leaves hears nothing more and is told nothing; those that stay are told when the leg closes", () => {
    const { leg, run } = setup()
    const [left, stays] = [listener(["inbound"]), listener(["inbound"])]
    for (const { tap } of [left, stays]) leg.taps.add(tap)
    run(20)
    leg.taps.remove(left.tap)
    run(20)
    leg.close(40)
    expect([left.heard.length, stays.heard.length]).toEqual([1, 2])
    expect([left.ends, stays.ends]).toEqual([[], ["closed"]])
  })
})
