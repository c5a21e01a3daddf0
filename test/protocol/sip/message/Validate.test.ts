import { describe, expect, it } from "@effect/vitest"
import { emptyBody, type Header, type SipRequest } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as Validate from "../../../../src/protocol/sip/message/Validate.ts"

const basic: ReadonlyArray<Header> = [
  ["Via", "SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa"],
  ["From", "<sip:a@b>;tag=1"],
  ["To", "<sip:c@d>"],
  ["Call-ID", "x@y"],
  ["CSeq", "1 INVITE"],
  ["Max-Forwards", "70"]
]

const make = (change: Partial<SipRequest> = {}, ...more: ReadonlyArray<Header>): SipRequest => ({
  type: "request",
  method: "INVITE",
  uri: "sip:c@d",
  headers: [...basic, ...more],
  body: emptyBody,
  ...change
})

const without = (name: string, replacement?: string) =>
  make({
    headers: basic.flatMap((entry) =>
      entry[0] !== name ? [entry] : replacement === undefined ? [] : [[name, replacement] as const]
    )
  })

const status = (message: SipRequest, policy?: Validate.Policy) => {
  const verdict = Validate.request(message, policy)
  return verdict.type === "reject" ? verdict.status : verdict.type
}

describe("RFC 3261 section 8.2: requests", () => {
  it("accepts a complete one", () => expect(status(make())).toBe("accept"))

  it.each(["From", "To", "Call-ID", "CSeq"])("answers 400 without %s", (name) =>
    expect(status(without(name))).toBe(400)
  )

  it.each([
    ["Via", "nonsense"],
    ["From", "x"],
    ["To", '"x'],
    ["Call-ID", ""],
    ["Call-ID", "a b"],
    ["CSeq", "x INVITE"],
    ["CSeq", "1 BYE"],
    ["Max-Forwards", "x"],
    ["Max-Forwards", ""]
  ])("answers 400 to %s: %s", (name, value) => expect(status(without(name, value))).toBe(400))

  it("drops a request without Via", () => expect(status(without("Via"))).toBe("drop"))

  it("accepts one without Max-Forwards, or with any number", () => {
    for (const value of [undefined, "0", "300"]) expect(status(without("Max-Forwards", value))).toBe("accept")
  })

  it("answers 400 to a second single-value header and to malformed Contact and routes", () => {
    expect(status(make({}, ["To", "<sip:c@d>"]))).toBe(400)
    for (const name of ["Contact", "Route", "Record-Route"]) expect(status(make({}, [name, "<x"]))).toBe(400)
    expect(status(make({}, ["Contact", "*"]))).toBe(400)
  })

  it("answers 400 to a malformed Request-URI, 416 to a foreign scheme", () => {
    expect(status(make({ uri: "sip:a b" }))).toBe(400)
    expect(status(make({ uri: "http://x" }))).toBe(416)
    expect(status(make({ uri: "tel:+12025550100" }))).toBe("accept")
  })

  it("answers 420 with the unsupported tags only", () => {
    const message = make({}, ["Require", "100rel, Timer"], ["Require", "x"])
    expect(Validate.request(message, { ...Validate.defaultPolicy, supported: ["timer"] })).toMatchObject({
      status: 420,
      headers: [["Unsupported", "100rel, x"]]
    })
  })

  it("answers 415 with what it reads, unless the body may be ignored", () => {
    const body = new Uint8Array(1)
    expect(Validate.request(make({ body }, ["Content-Type", "text/plain"]))).toMatchObject({
      status: 415,
      headers: [["Accept", "application/sdp, multipart/mixed, multipart/alternative"]]
    })
    expect(
      Validate.request(make({ body }, ["Content-Type", "application/sdp"], ["Content-Encoding", "gzip"]))
    ).toMatchObject({
      headers: [["Accept-Encoding", "identity"]]
    })
    expect(status(make({ body }, ["Content-Type", "Application/SDP ; charset=x"]))).toBe("accept")
    expect(status(make({ body }, ["Content-Type", "x/y"], ["Content-Disposition", "icon;handling=optional"]))).toBe(
      "accept"
    )
  })

  it("answers 406 to an INVITE that cannot read SDP", () => {
    expect(status(make({}, ["Accept", "text/plain"]))).toBe(406)
    expect(status(make({}, ["Accept", "text/plain, application/*;q=0.1"]))).toBe("accept")
  })

  it("never answers an ACK, and asks no extensions of a CANCEL", () => {
    const ack = make({ method: "ACK", headers: [...basic.filter(([name]) => name !== "CSeq"), ["CSeq", "1 INVITE"]] })
    expect(status(ack)).toBe("drop")
    const cancel = make({
      method: "CANCEL",
      headers: [...basic.filter(([name]) => name !== "CSeq"), ["CSeq", "1 CANCEL"], ["Require", "x"]]
    })
    expect(status(cancel)).toBe("accept")
  })
})

describe("RFC 3261 section 8.1.3.3: responses", () => {
  const response = (headers: ReadonlyArray<Header>) =>
    Validate.response({ type: "response", status: 200, reason: "OK", headers, body: emptyBody }).type

  it("accepts a complete one with exactly one Via", () => {
    expect(response(basic)).toBe("accept")
    expect(response([...basic, ["Via", "SIP/2.0/UDP b"]])).toBe("drop")
    expect(response(basic.map(([name, value]) => [name, name === "Via" ? `${value}, SIP/2.0/UDP b` : value]))).toBe(
      "drop"
    )
  })

  it.each(["Via", "From", "To", "Call-ID", "CSeq"])("drops one without %s", (name) =>
    expect(response(basic.filter((entry) => entry[0] !== name))).toBe("drop")
  )
})
