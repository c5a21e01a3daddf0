import { describe, expect, it } from "@effect/vitest"
import type { Header } from "../../../../src/protocol/sip/message/SipMessage.ts"
import { header } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as SessionBody from "../../../../src/protocol/sip/message/SessionBody.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const sdp = "v=0\r\n"

const part = (type: string, body: string, ...headers: ReadonlyArray<string>) =>
  [`Content-Type: ${type}`, ...headers, "", body].join("\r\n")
const joined = (boundary: string, ...parts: ReadonlyArray<string>) =>
  `${parts.map((each) => `--${boundary}\r\n${each}\r\n`).join("")}--${boundary}--\r\n`

const invite = (type: string, body: string, headers: ReadonlyArray<Header> = [], method = "INVITE") =>
  SipSample.request(method, { body: { type, bytes: bytes(body) }, headers })

/** Returns the description, or the status with the types that would be understood, or nothing. */
const found = (type: string, body: string, headers: ReadonlyArray<Header> = []) => {
  const reading = SessionBody.of(invite(type, body, headers))
  if (reading.type === "session") return new TextDecoder().decode(reading.bytes)
  return reading.type === "none" ? null : [reading.status, ...reading.headers.flat()]
}

const unsupported = [415, "Accept", "application/sdp, multipart/mixed, multipart/alternative"]
const mixed = 'multipart/mixed; boundary="a b"'
const location = part("application/pidf+xml", "<presence/>")

describe("the session description in a body (RFC 3261 section 20.11, RFC 5621)", () => {
  it("is a body of type application/sdp", () => {
    expect(found("application/sdp", sdp)).toBe(sdp)
    expect(found("Application/SDP ;charset=utf-8", sdp, [["Content-Disposition", "session;handling=required"]])).toBe(
      sdp
    )
    expect(found("application/sdp", sdp, [["Content-Encoding", "identity"]])).toBe(sdp)
  })
  it("is the first such part of several", () => {
    const body = joined("a b", location, part("application/sdp", sdp), part("application/sdp", "v=1"))
    expect(found(mixed, body)).toBe(sdp)
    expect(found('multipart/related; boundary="a b"', body)).toBe(sdp)
  })
  it("is the last that can be read of several ways to say the same", () => {
    const body = joined("x", part("application/sdp", "v=1"), part("application/sdp", sdp), part("text/sdpng", "new"))
    expect(found("multipart/alternative;boundary=x", body)).toBe(sdp)
  })
  it("is found in a body within a body, to a small depth", () => {
    let [type, body] = ["application/sdp", sdp]
    for (let depth = 1; depth <= 3; depth++) {
      ;[type, body] = [`multipart/mixed;boundary=b${depth}`, joined(`b${depth}`, part(type, body))]
      expect(found(type, body)).toBe(sdp)
    }
    expect(found("multipart/mixed;boundary=b4", joined("b4", part(type, body)))).toEqual(unsupported)
  })
  it("is none where the body may be ignored", () => {
    expect(found("text/plain", "hi", [["Content-Disposition", "render;handling=optional"]])).toBe(null)
    expect(found("text/plain", "")).toBe(null)
    expect(found(mixed, joined("a b", part("x/y", "z", "Content-Disposition: signal;handling=optional")))).toBe(null)
  })
  it("is missing where another type stands alone, or something else is meant: 415 with what is read", () => {
    expect(found("text/plain", "hi")).toEqual(unsupported)
    expect(found(mixed, joined("a b", location))).toEqual(unsupported)
    expect(found("application/sdp", sdp, [["Content-Disposition", "early-session"]])).toEqual(unsupported)
  })
  it("is refused with a part that must be understood and is not", () => {
    const isup = part("application/isup", "x", "Content-Disposition: signal;handling=required")
    expect(found(mixed, joined("a b", part("application/sdp", sdp), isup))).toEqual(unsupported)
  })
  it("is refused where it is packed: 415 with what is unpacked", () => {
    const identity = [415, "Accept-Encoding", "identity"]
    expect(found("application/sdp", sdp, [["Content-Encoding", "gzip"]])).toEqual(identity)
    expect(
      found(mixed, joined("a b", part("application/sdp", "dj0wDQo=", "Content-Transfer-Encoding: base64")))
    ).toEqual(identity)
  })
  it("is malformed where the parts are", () => {
    expect(found("multipart/mixed", sdp)).toEqual([400])
    expect(found(mixed, "no part")).toEqual([400])
  })
})

describe("a message with its session description alone", () => {
  it("has that for its body", () => {
    const message = SessionBody.alone(
      invite(mixed, joined("a b", location, part("application/sdp", sdp)), [["MIME-Version", "1.0"]])
    )
    expect(new TextDecoder().decode(message.body)).toBe(sdp)
    expect(header(message, "Content-Type")).toBe("application/sdp")
    expect(message.headers.filter(([name]) => name === "Content-Type")).toHaveLength(1)
  })
  it("is the same when it has nothing else", () => {
    for (const message of [invite("application/sdp", sdp), SipSample.request("INVITE"), SipSample.request("BYE")])
      expect(SessionBody.alone(message)).toBe(message)
  })
  it("has no body when nothing describes a session", () => {
    const answer = SipSample.response(SipSample.request("INVITE"), 200, {
      body: { type: "text/html", bytes: bytes("x") }
    })
    expect(SessionBody.alone(answer).body).toHaveLength(0)
    expect(header(SessionBody.alone(answer), "Content-Type")).toBeNull()
  })
  it("keeps the bodies of other methods", () => {
    const info = invite("application/dtmf-relay", "Signal=1", [], "INFO")
    expect(SessionBody.alone(info)).toBe(info)
  })
})
