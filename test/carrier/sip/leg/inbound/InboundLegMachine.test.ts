import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as InboundLegMachine from "../../../../../src/carrier/sip/leg/inbound/InboundLegMachine.ts"
import * as Codecs from "../../../../../src/protocol/audio/codec/Codecs.ts"
import * as IpAddress from "../../../../../src/domain/network/IpAddress.ts"
import * as Requests from "../../../../../src/protocol/sip/message/Requests.ts"
import * as Ids from "../../../../support/Ids.ts"
import * as LegModel from "../LegModel.ts"
import * as Rig from "../../Rig.ts"

const flow = { transport: "udp", local: Rig.self, remote: Rig.peer, connection: null } as const
const id = "invite"

const make = (offers: boolean) => {
  const started = InboundLegMachine.start({
    id,
    invite: Requests.invite({
      ...LegModel.hop,
      uri: "sip:+12025550150@192.0.2.1",
      from: "<sip:bob@192.0.2.2>;tag=bob",
      to: "<sip:+12025550150@192.0.2.1>",
      callId: "model",
      cseq: 1,
      contact: "<sip:bob@192.0.2.2:5062>",
      ...(offers ? { body: LegModel.sdp } : {})
    }),
    localTag: "us",
    contact: "<sip:us@192.0.2.1>",
    signallingAddress: "192.0.2.2",
    expiresAt: 120_000,
    flow,
    agent: { userAgent: "t", host: "192.0.2.1" },
    local: {
      addresses: IpAddress.only("192.0.2.1"),
      family: "ipv4",
      port: 0,
      sessionId: "7",
      codecs: [Codecs.table.PCMU, Codecs.table.PCMA],
      codecChoice: "ours"
    }
  })
  if (started.type !== "started") return expect.fail("refused")
  return LegModel.make<InboundLegMachine.State, InboundLegMachine.Own>(InboundLegMachine, started.state)
}

type Model = ReturnType<typeof make>

const play = LegModel.player<Model>({
  ring: ({ feed }) => feed({ type: "ring" }),
  answer: ({ feed }) => feed({ type: "answer", commandId: Ids.command("answer"), headers: [] }),
  release: ({ feed }) => feed({ type: "release", status: 480 }),
  CANCEL: ({ feed }) => feed({ type: "cancelled", reason: null }),
  refused: ({ feed, log }) => {
    if (final(log).length > 0) feed({ type: "refused" })
  },
  "not admitted": ({ feed, tell }) => {
    feed({ type: "notAdmitted", status: 404 })
    for (let count = 0; count < 60; count++) tell("unknown")
  },
  routed: ({ feed }) => feed({ type: "routed", trunk: { ...Rig.trunk, username: "alice", password: "secret" } }),
  "a minute": ({ pass }) => pass(60_000)
})
const Acts = Schema.Array(Schema.Literals(play.names)).check(Schema.isMinLength(4), Schema.isMaxLength(60))
const Starting = Schema.Literals(["", "ring", "ring answer placed", "routed answer placed ACK committed"])

/** The final answers to the INVITE. */
const final = (log: ReadonlyArray<LegModel.Output>): ReadonlyArray<number> =>
  log.flatMap((output) =>
    (output.type === "respond" || output.type === "succeed") && output.id === id && output.response.status >= 200
      ? [output.response.status]
      : []
  )

interface Given {
  readonly offers: boolean
  readonly starting: string
  readonly names: ReadonlyArray<string>
}

const run = (
  { starting, names, offers }: Given,
  check: (leg: Model, outputs: ReadonlyArray<LegModel.Output>) => void = () => undefined
): Model => {
  const leg = make(offers)
  for (const name of [...starting.split(" ").filter((each) => each !== ""), ...names]) {
    const before = leg.log.length
    play.act(leg, name)
    check(leg, leg.log.slice(before))
  }
  return leg
}

const settle = (leg: Model): void => {
  LegModel.settle(leg, () => leg.feed({ type: "release", status: 480 }))
  if (final(leg.log).some((status) => status >= 300)) leg.feed({ type: "refused" })
  for (let count = 0; count < 10; count++) leg.tell("committed")
}

/** Faults show at the end of long histories. */
const many = { arbitrary: { runs: 500, size: 100 } }

describe("the machine of an inbound leg, whatever comes in whatever order", () => {
  const given = { offers: Schema.Boolean, starting: Starting, names: Acts }

  it.prop(
    "ends exactly once unless nobody took it, and tells nothing after its end",
    given,
    (happens) => {
      const leg = run(happens)
      settle(leg)
      const words = leg.log.map(LegModel.word)
      const ends = words.filter((word) => word === "end").length
      expect(ends).toBeLessThanOrEqual(1)
      if (!words.includes("forget")) expect(ends).toBe(1)
      if (ends === 1) expect(words.slice(words.indexOf("end")).filter((word) => word.startsWith("tell"))).toEqual([])
    },
    many
  )

  it("tells no digit that comes after its end, while its 2xx still waits for its ACK", () => {
    const names = ["release", "ten seconds", "INFO"]
    const leg = run({ offers: true, starting: "answer placed", names })
    expect(leg.log.map(LegModel.word).slice(-2)).toEqual(["end", expect.stringMatching(/^asked-\d+ 481$/)])
  })

  it.prop(
    "gives its INVITE exactly one final answer, and nothing provisional after it",
    given,
    (happens) => {
      const leg = run(happens)
      settle(leg)
      expect(final(leg.log)).toHaveLength(1)
      const answers = leg.log.flatMap((output) =>
        (output.type === "respond" || output.type === "succeed") && output.id === id ? [output.response.status] : []
      )
      expect(answers.findIndex((status) => status >= 200)).toBe(answers.length - 1)
    },
    many
  )

  it.prop(
    "tells its caller that it gave up only when that is committed",
    given,
    (happens) => {
      let told = 0
      run(happens, (leg, outputs) => {
        for (const output of outputs)
          if (output.type === "respond" && output.id === id && output.response.status === 487)
            expect(leg.state().ending.type).toBe("ended")
        told += outputs.length
      })
      expect(told).toBeGreaterThanOrEqual(0)
    },
    many
  )

  it.prop(
    "has answered and hangs up only when its ACK has come, or never will (section 15)",
    given,
    (happens) => {
      let isOpen = false
      run(happens, (leg, outputs) => {
        const words = outputs.map(LegModel.word)
        if (words.includes(`${id} 200`)) isOpen = true
        if (isOpen && leg.state().session.phase === "accepted") {
          expect(words).not.toContain("BYE")
          expect(words).not.toContain("tell answered")
        }
        if (words.includes("BYE") || words.includes("tell answered")) expect(isOpen).toBe(true)
      })
    },
    many
  )

  it.prop(
    "answers every request of the peer exactly once, each action has one last outcome",
    given,
    (happens) => {
      const leg = run(happens)
      settle(leg)
      expect([...leg.asked.values()].filter((count) => count !== 1)).toEqual([])
      expect([...leg.acted.values()].filter((count) => count !== 1)).toEqual([])
    },
    many
  )

  it.prop(
    "asks nothing of its peer behind a BYE, but by a BYE again",
    given,
    (happens) => {
      const leg = run(happens)
      settle(leg)
      const asked = leg.log.map(LegModel.word).filter((word) => ["BYE", "INVITE", "INFO", "REFER"].includes(word))
      const first = asked.indexOf("BYE")
      if (first >= 0) expect(new Set(asked.slice(first))).toEqual(new Set(["BYE"]))
    },
    many
  )

  it.prop(
    "is over for good once it has ended",
    given,
    (happens) => {
      const leg = run(happens)
      settle(leg)
      expect(InboundLegMachine.dialogs(leg.state())).toEqual([])
      expect(InboundLegMachine.deadline(leg.state())).toBeNull()
      const before = leg.log.length
      for (const name of play.names) play.act(leg, name)
      for (const word of new Set(leg.log.slice(before).map(LegModel.word)))
        expect(["forget", "outcome"]).toContain(word)
    },
    many
  )
})
