import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as DialIdentity from "../../../../../src/carrier/sip/leg/dial/DialIdentity.ts"
import * as Codecs from "../../../../../src/protocol/audio/codec/Codecs.ts"
import * as OutboundLegMachine from "../../../../../src/carrier/sip/leg/dial/OutboundLegMachine.ts"
import * as OutboundLegState from "../../../../../src/carrier/sip/leg/dial/OutboundLegState.ts"
import * as Responses from "../../../../../src/protocol/sip/message/Responses.ts"
import * as Ids from "../../../../support/Ids.ts"
import * as LegModel from "../LegModel.ts"
import * as Rig from "../../Rig.ts"

const flow = { transport: "udp", local: Rig.self, remote: Rig.peer, connection: null } as const
const way: OutboundLegState.Way = {
  trunk: { ...Rig.trunk, username: "alice", password: "secret" },
  flow,
  self: { transport: "udp", ...Rig.self }
}

const make = () => {
  if (Rig.dial.type !== "dial") return expect.fail("no dial")
  const start = OutboundLegState.start(Rig.dial, DialIdentity.of(Ids.command("d")), "t", {
    codecs: [Codecs.table.PCMU, Codecs.table.PCMA],
    codecChoice: "ours"
  })
  const model = LegModel.make<OutboundLegState.State, OutboundLegState.Own>(OutboundLegMachine, start)
  let hasProceeded = false
  /** The peer's answer to our last INVITE. */
  const reply = (status: number, tag: string, body?: { readonly type: string; readonly bytes: Uint8Array }) => {
    const { invite } = model.state()
    if (invite === null) return
    if (status < 200) hasProceeded = true
    const challenge = ["Proxy-Authenticate", 'Digest realm="r", nonce="n"'] as const
    const response = Responses.make(invite, status, {
      toTag: tag,
      contact: "<sip:bob@192.0.2.2:5062>",
      headers: status === 407 ? [challenge] : [],
      ...(body === undefined ? {} : { body })
    })
    model.feed({ type: "response", invite, response })
  }
  return { ...model, reply, hasProceeded: () => hasProceeded }
}

type Model = ReturnType<typeof make>

const sdp = Rig.sdpBody()

const acts: Readonly<Record<string, (leg: Model) => void>> = {
  routed: ({ feed }) => feed({ type: "routed", way }),
  "no route": ({ feed }) => feed({ type: "routed", way: null }),
  "100": ({ reply }) => reply(100, ""),
  "180": ({ reply }) => reply(180, "bob"),
  "183 of another": ({ reply }) => reply(183, "carol", sdp),
  "183": ({ reply }) => reply(183, "bob", sdp),
  "183 unusable": ({ reply }) => reply(183, "bob", LegModel.unusable),
  "200": ({ reply }) => reply(200, "bob", sdp),
  "200 bare": ({ reply }) => reply(200, "bob"),
  "200 of another": ({ reply }) => reply(200, "carol", sdp),
  "200 unusable": ({ reply }) => reply(200, "dave", LegModel.unusable),
  "407": ({ reply }) => reply(407, "bob"),
  "486": ({ reply }) => reply(486, "bob"),
  "487": ({ reply }) => reply(487, "bob"),
  timeout: ({ feed, state }) => {
    const { invite } = state()
    if (invite !== null) feed({ type: "failed", invite, reason: "timeout" })
  },
  release: ({ feed }) => feed({ type: "release" })
}

const play = LegModel.player(acts)
const Acts = Schema.Array(Schema.Literals(play.names)).check(Schema.isMinLength(4), Schema.isMaxLength(60))

/** Most runs begin as calls do. */
const Starting = Schema.Literals(["", "routed placed", "routed placed 100 180 183", "routed placed 183 200 committed"])

const run = (
  starting: string,
  then: ReadonlyArray<string>,
  check: (leg: Model, outputs: ReadonlyArray<LegModel.Output>, name: string) => void
): Model => {
  const leg = make()
  for (const name of [...starting.split(" ").filter((each) => each !== ""), ...then]) {
    const before = leg.log.length
    play.act(leg, name)
    check(leg, leg.log.slice(before), name)
  }
  return leg
}

/** Settles everything that waits, and hangs up the call. */
const settle = (leg: Model): void => LegModel.settle(leg, () => leg.feed({ type: "release" }))

/** Faults show at the end of long histories. */
const many = { arbitrary: { runs: 500, size: 100 } }

describe("the machine of an outbound leg, whatever comes in whatever order", () => {
  const given = { starting: Starting, names: Acts }

  it.prop(
    "ends exactly once, and tells nothing after its end",
    given,
    ({ starting, names }) => {
      const leg = run(starting, names, () => undefined)
      settle(leg)
      const words = leg.log.map(LegModel.word)
      expect(words.filter((word) => word === "end")).toHaveLength(1)
      expect(words.slice(words.indexOf("end")).filter((word) => word.startsWith("tell"))).toEqual([])
    },
    many
  )

  it.prop(
    "acknowledges no answer before it is committed, unless it hangs up, and hangs up only behind its ACK",
    given,
    ({ starting, names }) => {
      let isAcknowledged = false
      run(starting, names, (leg, outputs, name) => {
        const words = outputs.map(LegModel.word)
        const isThrough = name === "committed" || name === "fault" || name === "unknown"
        if (words.includes("ack") && !isAcknowledged && !isThrough) expect(words).toContain("BYE")
        if (words.includes("ack")) isAcknowledged = true
        if (words.includes("BYE")) expect(isAcknowledged).toBe(true)
        if (leg.state().session?.phase === "accepted") expect(isAcknowledged).toBe(false)
      })
    },
    many
  )

  it("sends no BYE to a peer that left while the answer was being committed", () => {
    const leg = run("routed placed 183 200", ["release", "BYE", "committed", "committed"], () => undefined)
    const words = leg.log.map(LegModel.word)
    expect(words).toContain("ack")
    expect(words).not.toContain("BYE")
  })

  it.prop(
    "cancels once, and only after a provisional response (section 9.1)",
    given,
    ({ starting, names }) => {
      const leg = run(starting, names, (each, outputs) => {
        if (outputs.some(({ type }) => type === "cancel")) expect(each.hasProceeded()).toBe(true)
      })
      expect(leg.log.filter(({ type }) => type === "cancel").length).toBeLessThanOrEqual(1)
    },
    many
  )

  it.prop(
    "answers every request of the peer exactly once, each action has one last outcome",
    given,
    ({ starting, names }) => {
      const leg = run(starting, names, () => undefined)
      settle(leg)
      expect([...leg.asked.values()].every((count) => count === 1)).toBe(true)
      expect([...leg.acted.values()].every((count) => count === 1)).toBe(true)
    },
    many
  )

  it.prop(
    "asks nothing of its peer behind a BYE, but by a BYE again",
    given,
    ({ starting, names }) => {
      const leg = run(starting, names, () => undefined)
      settle(leg)
      const asked = leg.log.map(LegModel.word).filter((word) => ["BYE", "INVITE", "INFO", "REFER"].includes(word))
      const first = asked.indexOf("BYE")
      if (first >= 0) expect(new Set(asked.slice(first))).toEqual(new Set(["BYE"]))
    },
    many
  )

  it.prop(
    "is over for good once it has ended: it takes down what answers late, and nothing else",
    given,
    ({ starting, names }) => {
      const leg = run(starting, names, () => undefined)
      settle(leg)
      expect(OutboundLegMachine.dialogs(leg.state())).toEqual([])
      expect(OutboundLegMachine.deadline(leg.state())).toBeNull()
      const before = leg.log.length
      for (const name of play.names) play.act(leg, name)
      const late = new Set(leg.log.slice(before).map(LegModel.word))
      for (const word of late) expect(["ack", "stray", "cancel", "outcome"]).toContain(word)
    },
    many
  )
})
