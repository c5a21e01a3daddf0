import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as OfferAnswer from "../../../../src/protocol/sip/sdp/OfferAnswer.ts"
import * as Sdp from "../../../../src/protocol/sip/sdp/Sdp.ts"
import type * as SdpOffer from "../../../../src/protocol/sip/sdp/SdpOffer.ts"

const codec = (encoding: string, payloadType: number): SdpOffer.Codec => ({
  encoding,
  clockRate: 8_000,
  channels: 1,
  payloadType,
  fmtp: null
})

const local: OfferAnswer.Local = {
  addresses: { ipv4: "192.0.2.1", ipv6: null },
  family: "ipv4",
  port: 40_000,
  sessionId: "7",
  codecs: [codec("PCMU", 0), codec("PCMA", 8)],
  codecChoice: "ours"
}

const text = (port: number, more = "a=sendrecv", formats = "0 8 101", address = "192.0.2.2"): string =>
  ["v=0", "o=- 1 1 IN IP4 192.0.2.2", "s=-", `c=IN IP4 ${address}`, "t=0 0"]
    .concat([`m=audio ${port} RTP/AVP ${formats}`, "a=rtpmap:101 telephone-event/8000", more, ""])
    .join("\r\n")
const sdp = (...of: Parameters<typeof text>): Uint8Array => new TextEncoder().encode(text(...of))
const g729 = sdp(30_000, "a=rtpmap:18 G729/8000", "18")
const nothing = new Uint8Array(0)

const request = (body: Uint8Array): OfferAnswer.Input => ({ type: "described", by: "request", body })
const success = (body: Uint8Array): OfferAnswer.Input => ({ type: "described", by: "success", body })
const provisional = (body: Uint8Array): OfferAnswer.Input => ({ type: "described", by: "provisional", body })
const ack = (body: Uint8Array): OfferAnswer.Input => ({ type: "described", by: "ack", body })
const offer: OfferAnswer.Input = { type: "offer", direction: null }
const hold: OfferAnswer.Input = { type: "offer", direction: "sendonly" }
const accept: OfferAnswer.Input = { type: "accept" }
const withdrawn: OfferAnswer.Input = { type: "withdrawn" }

/** The outputs of each input as text, and the last state. */
const run = (inputs: ReadonlyArray<OfferAnswer.Input>, from: OfferAnswer.State = OfferAnswer.initial) => {
  let state = from
  const said = inputs.map((input) => {
    const step = OfferAnswer.step(state, input, local)
    ;({ state } = step)
    return step.outputs.map(word).join(" + ")
  })
  return { state, said }
}

const word = (output: OfferAnswer.Output): string => {
  switch (output.type) {
    case "send": {
      const { media, origin } = Result.getOrThrow(Sdp.parse(output.body.bytes))
      return `send v${origin.sessionVersion} ${media.map(({ direction, port }) => `${port} ${direction}`).join(", ")}`
    }
    case "connect":
      return `connect ${output.terms.remote?.port} ${output.terms.direction}`
    case "glare":
      return "glare"
    case "unacceptable":
      return `${output.status}`
  }
}

const said = (...inputs: ReadonlyArray<OfferAnswer.Input>) => run(inputs).said

describe("an offer of ours", () => {
  it("is answered in the 2xx, or in the ACK where it stood in the 2xx", () => {
    expect(said(offer, success(sdp(30_000)))).toEqual(["send v1 40000 sendrecv", "connect 30000 sendrecv"])
    expect(said(request(nothing), accept, ack(sdp(30_000)))).toEqual([
      "",
      "send v1 40000 sendrecv",
      "connect 30000 sendrecv"
    ])
  })

  it("is previewed by a provisional response, which the 2xx may leave out or change", () => {
    const early = run([offer, provisional(sdp(30_000)), provisional(nothing)])
    expect(early.said.slice(1)).toEqual(["connect 30000 sendrecv", ""])
    expect(early.state.agreement).toBeNull()
    expect(run([success(nothing)], early.state)).toMatchObject({
      said: [""],
      state: { exchange: { type: "none" }, agreement: { terms: { remote: { port: 30_000 } } } }
    })
    expect(run([success(sdp(30_002))], early.state).said).toEqual(["connect 30002 sendrecv"])
  })

  it("without a usable answer has failed, and nothing is agreed", () => {
    for (const body of [nothing, g729, new TextEncoder().encode("nonsense")]) {
      const { said, state } = run([offer, success(body)])
      expect(said[1]).toBe("488")
      expect(state).toMatchObject({ exchange: { type: "none" }, agreement: null })
    }
    expect(run([offer, provisional(g729), success(sdp(30_000))]).said.slice(1)).toEqual([
      "488",
      "connect 30000 sendrecv"
    ])
  })

  it("that is refused leaves what was agreed, and its version counts (RFC 3264 section 8)", () => {
    const agreed = run([offer, success(sdp(30_000))]).state
    const refused = run([hold, withdrawn], agreed)
    expect(refused.said).toEqual(["send v2 40000 sendonly", ""])
    expect(refused.state.agreement).toEqual(agreed.agreement)
    expect(run([offer], refused.state).said).toEqual(["send v3 40000 sendrecv"])
    expect(run([hold], refused.state).said).toEqual(["send v2 40000 sendonly"])
  })

  it("keeps the streams of the agreement in their places", () => {
    const two = new TextEncoder().encode(`${text(30_000)}m=video 30010 RTP/AVP 31\r\n`)
    expect(said(request(two), accept, offer)[2]).toBe("send v2 40000 sendrecv, 0 null")
  })

  it("that holds is what we want of later offers of the peer, until another is agreed", () => {
    const held = run([offer, success(sdp(30_000)), hold, success(sdp(30_000, "a=recvonly"))]).state
    expect(run([request(sdp(30_000)), accept], held).said[1]).toBe("send v3 40000 sendonly + connect 30000 sendonly")
  })
})

describe("an offer of the peer", () => {
  it("keeps the codec that is agreed while it has it, and is answered with ours once it has not", () => {
    const codecOf = ({ agreement }: OfferAnswer.State) => agreement?.terms.codec.encoding
    const pcma = run([offer, success(sdp(30_000, "a=sendrecv", "8 101"))]).state
    expect(codecOf(pcma)).toBe("PCMA")
    const both = run([request(sdp(30_000, "a=sendrecv", "0 8 101")), accept], pcma).state
    expect(codecOf(both)).toBe("PCMA")
    expect(codecOf(run([request(sdp(30_000, "a=sendrecv", "0 101")), accept], both).state)).toBe("PCMU")
  })

  it("is answered when we accept, with a version that counts up only where we say something else", () => {
    const offers = [sdp(30_000), sdp(30_002), sdp(30_002, "a=sendonly"), sdp(30_000)]
    expect(said(...offers.flatMap((body) => [request(body), accept])).filter((_, at) => at % 2 === 1)).toEqual([
      "send v1 40000 sendrecv + connect 30000 sendrecv",
      "send v1 40000 sendrecv + connect 30002 sendrecv",
      "send v2 40000 recvonly + connect 30002 recvonly",
      "send v3 40000 sendrecv + connect 30000 sendrecv"
    ])
  })

  it("that cannot be accepted is refused when it comes, and leaves what was agreed", () => {
    const before = run([request(sdp(30_000)), accept]).state
    const after = run([request(g729), request(new TextEncoder().encode("v=0\r\n")), withdrawn], before)
    expect(after.said).toEqual(["488", "400", ""])
    expect(after.state).toEqual(before)
  })

  it("by an empty address holds, and keeps pointing where the peer was", () => {
    const held = sdp(30_000, "a=sendrecv", "0 8 101", "0.0.0.0")
    expect(said(request(sdp(30_000)), accept, request(held), accept)[3]).toBe(
      "send v2 40000 recvonly + connect 30000 recvonly"
    )
  })
})

describe("two offers that meet", () => {
  it("are glare, whichever came first (RFC 3261 section 14)", () => {
    expect(said(offer, request(sdp(30_000)), offer, accept)).toEqual([
      "send v1 40000 sendrecv",
      "glare",
      "glare",
      "glare"
    ])
    expect(said(request(sdp(30_000)), offer, request(sdp(30_002)))).toEqual(["", "glare", "glare"])
  })
})

describe("any order of messages", () => {
  const bodies = { good: sdp(30_000), moved: sdp(30_002, "a=sendonly"), bad: g729, empty: nothing }
  const Inputs = Schema.Array(
    Schema.Union([
      Schema.Struct({
        type: Schema.Literal("described"),
        by: Schema.Literals(["request", "ack", "provisional", "success"]),
        body: Schema.Literals(["good", "moved", "bad", "empty"])
      }),
      Schema.Struct({
        type: Schema.Literal("offer"),
        direction: Schema.NullOr(Schema.Literals(["sendonly", "sendrecv", "inactive"]))
      }),
      Schema.Struct({ type: Schema.Literals(["accept", "withdrawn"]) })
    ])
  )

  it.prop("has one exchange at a time, forgets no agreement, and never counts a version down", [Inputs], ([inputs]) => {
    let state = OfferAnswer.initial
    let version = 0
    for (const each of inputs) {
      const input: OfferAnswer.Input = each.type === "described" ? { ...each, body: bodies[each.body] } : each
      const before = state
      const step = OfferAnswer.step(before, input, local)
      ;({ state } = step)
      for (const output of step.outputs)
        if (output.type === "send") {
          const sent = Number(Result.getOrThrow(Sdp.parse(output.body.bytes)).origin.sessionVersion)
          expect(sent === version || sent === version + 1).toBe(true)
          version = sent
        }
      const names = step.outputs.map(({ type }) => type)
      if (names.includes("glare") || names.includes("unacceptable")) expect(state.agreement).toBe(before.agreement)
      if (before.agreement !== null) expect(state.agreement).not.toBeNull()
      if (names.includes("connect") && state.exchange.type === "none") expect(state.agreement).not.toBeNull()
      if (input.type === "withdrawn") expect(state.agreement).toBe(before.agreement)
    }
  })
})
