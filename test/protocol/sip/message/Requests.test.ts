import { expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import * as Responses from "../../../../src/protocol/sip/message/Responses.ts"
import { header, headers } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../../../src/protocol/sip/message/SipWriter.ts"
import * as Validate from "../../../../src/protocol/sip/message/Validate.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

const sdp = { type: "application/sdp", bytes: new TextEncoder().encode("v=0\r\n") }
const invite = SipSample.request("INVITE", { routes: ["<sip:trunk;lr>"], body: sdp })

it("writes requests that our own reader accepts", () => {
  const bye = SipSample.request("BYE", { to: "<sip:bob@192.0.2.2>;tag=bob" })
  for (const request of [
    invite,
    bye,
    Requests.cancel(invite),
    Requests.ackFailure(invite, SipSample.response(invite, 486))
  ]) {
    const read = Result.getOrThrow(SipParser.parse(SipWriter.write(request)))
    if (read.type !== "request") throw new Error("not a request")
    expect(Validate.request(read)).toEqual({ type: "accept" })
    expect(read.method).toBe(request.method)
  }
})

it("cancels with the INVITE's Via, URI, To, Call-ID, From and number, and no body (section 9.1)", () => {
  const cancel = Requests.cancel(invite)
  expect(cancel.uri).toBe(invite.uri)
  for (const name of ["Via", "Route", "From", "To", "Call-ID"])
    expect(headers(cancel, name)).toEqual(headers(invite, name))
  expect(header(cancel, "CSeq")).toBe("1 CANCEL")
  expect(cancel.body.length).toBe(0)
})

it("tries again with the next number, a new branch and the credentials, replacing stale ones", () => {
  const hop = { sentBy: "192.0.2.1:5060", branch: "z9hG4bKagain" }
  const once = Requests.by(Requests.again(invite, 8, [["Proxy-Authorization", "Digest a"]]), hop)
  const twice = Requests.by(Requests.again(once, 9, [["Proxy-Authorization", "Digest b"]]), hop)
  expect(header(twice, "CSeq")).toBe("9 INVITE")
  expect(headers(twice, "Proxy-Authorization")).toEqual(["Digest b"])
  expect(headers(twice, "Via")).toEqual(["SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKagain;rport"])
  expect([header(twice, "From"), header(twice, "Call-ID"), twice.body]).toEqual([
    header(invite, "From"),
    header(invite, "Call-ID"),
    invite.body
  ])
})

it("answers with every Via in order, and Record-Route only where a dialog comes of it", () => {
  const proxied = SipSample.request("INVITE", {
    headers: [
      ["Via", "SIP/2.0/UDP first;branch=z9hG4bK0"],
      ["Record-Route", "<sip:p;lr>"],
      ["Timestamp", "1"]
    ]
  })
  const names = (status: number) => SipSample.response(proxied, status).headers.map(([name]) => name)
  expect(headers(SipSample.response(proxied, 200), "Via")).toEqual(headers(proxied, "Via"))
  expect(names(180)).toContain("Record-Route")
  expect(names(486)).not.toContain("Record-Route")
  expect(names(100)).toContain("Timestamp")
  expect(header(SipSample.response(proxied, 100), "To")).toBe("<sip:bob@192.0.2.2>")
})

it("never gives a second To tag", () => {
  const within = SipSample.request("BYE", { to: "<sip:bob@192.0.2.2>;tag=first" })
  expect(header(SipSample.response(within, 200), "To")).toBe("<sip:bob@192.0.2.2>;tag=first")
})

it("without state, tags every repetition alike", () => {
  expect(Responses.stateless(invite, 503)).toEqual(Responses.stateless(invite, 503))
  expect(header(Responses.stateless(invite, 503), "To")).toMatch(/;tag=[0-9a-f]{16}$/)
})
