import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import type { SipMessage } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../../../src/protocol/sip/message/SipWriter.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (data: Uint8Array) => new TextDecoder().decode(data)
const lines = (...all: ReadonlyArray<string>) => bytes(all.join("\r\n"))

const ok = (data: Uint8Array): SipMessage => {
  const parsed = SipParser.parse(data)
  expect(Result.isSuccess(parsed), JSON.stringify(parsed)).toBe(true)
  return Result.getOrThrow(parsed)
}

const failure = (data: Uint8Array): SipParser.SipParseError => {
  const parsed = SipParser.parse(data)
  if (Result.isSuccess(parsed)) return expect.unreachable("was accepted")
  return parsed.failure
}

const rejection = (data: Uint8Array) => {
  const error = failure(data)
  return error.type === "reject" ? [error.status, error.reason] : error.type
}

const invite = lines(
  "INVITE sip:bob@192.0.2.4:5060;transport=udp SIP/2.0",
  "Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bK776asdhds;rport",
  "Max-Forwards: 70",
  'To: "Bob" <sip:bob@192.0.2.4>',
  'From: "Alice" <sip:alice@192.0.2.1>;tag=1928301774',
  "Call-ID: a84b4c76e66710@192.0.2.1",
  "CSeq: 314159 INVITE",
  "Contact: <sip:alice@192.0.2.1:5060>",
  "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS",
  "Supported: timer, replaces",
  "User-Agent: phone/1.0",
  "Content-Type: application/sdp",
  "Content-Length: 4",
  "",
  "v=0\n"
)

describe("RFC 3261 section 7: messages", () => {
  it("reads a request", () => {
    const message = ok(invite)
    expect(message).toMatchObject({ type: "request", method: "INVITE", uri: "sip:bob@192.0.2.4:5060;transport=udp" })
    expect(message.headers.length).toBe(12)
    expect(text(message.body)).toBe("v=0\n")
  })

  it("reads a response with an empty reason", () => {
    const message = ok(lines("SIP/2.0 180 ", "Via: x", "", ""))
    expect(message).toMatchObject({ type: "response", status: 180, reason: "" })
  })

  it("expands compact names and gives known names their usual case", () => {
    const message = ok(lines("OPTIONS sip:a SIP/2.0", "v: 1", "CALL-id: 2", "L: 0", "x-Own: 3", "k:", "", ""))
    expect(message.headers).toStrictEqual([
      ["Via", "1"],
      ["Call-ID", "2"],
      ["Content-Length", "0"],
      ["x-Own", "3"],
      ["Supported", ""]
    ])
  })

  it("joins folded lines with one space, also where a line holds only blanks", () => {
    const message = ok(lines("OPTIONS sip:a SIP/2.0", "Subject: one", "\t two ", "   ", " three", "Via : x", "", ""))
    expect(message.headers).toStrictEqual([
      ["Subject", "one two three"],
      ["Via", "x"]
    ])
  })

  it("takes a lone LF as the end of a line", () => {
    expect(ok(bytes("OPTIONS sip:a SIP/2.0\nVia: x\n\nbody")).headers.length).toBe(1)
  })

  it("skips line breaks before the start line", () => {
    expect(ok(bytes("\r\n\r\nOPTIONS sip:a SIP/2.0\r\nVia: x\r\n\r\n")).type).toBe("request")
  })
})

describe("RFC 3261 section 18.3: framing over UDP", () => {
  const options = (contentLength: string, body: string) =>
    bytes(`OPTIONS sip:a SIP/2.0\r\nVia: x\r\n${contentLength}\r\n${body}`)

  it("takes the rest as the body without Content-Length", () => expect(text(ok(options("", "abc")).body)).toBe("abc"))

  it("drops bytes beyond Content-Length", () => expect(text(ok(options("l: 2\r\n", "abc")).body)).toBe("ab"))

  it("rejects a body shorter than Content-Length", () =>
    expect(rejection(options("l: 4\r\n", "abc"))).toStrictEqual([400, "Body Shorter Than Content-Length"]))

  it("rejects a Content-Length that is no number, and two of them", () => {
    expect(rejection(options("l: -1\r\n", ""))).toStrictEqual([400, "Malformed Content-Length"])
    expect(rejection(options("l: 0\r\nContent-Length: 0\r\n", ""))).toStrictEqual([400, "Repeated Content-Length"])
  })

  it("knows keep-alive datagrams", () => {
    for (const ping of ["", "\r\n", "\r\n\r\n", "\0\0\0\0"])
      expect(failure(bytes(ping))).toStrictEqual({ type: "keepalive" })
  })
})

describe("faults", () => {
  it("keeps what was read of a request, so that it can be answered", () => {
    const error = failure(lines("OPTIONS sip:a SIP/2.0", "Via: x", "no colon", "From: y", "", "body"))
    if (error.type !== "reject") expect.unreachable(error.type)
    expect(error.request.headers).toStrictEqual([
      ["Via", "x"],
      ["From", "y"]
    ])
    expect(error.request.body.length).toBe(0)
  })

  it("never answers a response, an ACK or a request without Via", () => {
    expect(rejection(lines("SIP/2.0 200 OK", "Via: x", "l: 9", "", ""))).toBe("drop")
    expect(rejection(lines("ACK sip:a SIP/2.0", "Via: x", "l: 9", "", ""))).toBe("drop")
    expect(rejection(lines("INVITE sip:a SIP/2.0", "l: 9", "", ""))).toBe("drop")
  })

  it("drops what is not SIP", () => {
    for (const other of [
      "GET / HTTP/1.1\r\n\r\n",
      "\x80\x00\x12",
      "INVITE",
      "SIP/2.0 99 x\r\n\r\n",
      "SIP/2.0 2000 x\r\n\r\n"
    ])
      expect(failure(bytes(other)).type).toBe("drop")
  })

  it("answers another version with 505", () =>
    expect(rejection(lines("OPTIONS sip:a SIP/3.0", "Via: x", "", ""))).toStrictEqual([505, "Version Not Supported"]))

  it("takes no lone CR into a value", () =>
    expect(rejection(bytes("OPTIONS sip:a SIP/2.0\r\nVia: x\r\nSubject: a\rRoute: b\r\n\r\n"))).toStrictEqual([
      400,
      "Line Break in Header"
    ]))

  it("holds its limits", () => {
    const via = "Via: x\r\n"
    const head = `OPTIONS sip:a SIP/2.0\r\n${via}`
    expect(failure(new Uint8Array(SipParser.maxMessageBytes + 1).fill(65)).type).toBe("drop")
    expect(rejection(bytes(`OPTIONS sip:${"a".repeat(9000)} SIP/2.0\r\n${via}\r\n`))).toStrictEqual([
      414,
      "Request-URI Too Long"
    ])
    expect(rejection(bytes(`${head}${"x:y\r\n".repeat(256)}\r\n`))).toStrictEqual([400, "Too Many Headers"])
    expect(rejection(bytes(`${head}x: ${"y".repeat(9000)}\r\n\r\n`))).toStrictEqual([400, "Header Too Long"])
    expect(rejection(bytes(`${head}x: ${"y\r\n ".repeat(9000)}\r\n\r\n`))).toStrictEqual([400, "Header Too Long"])
    expect(rejection(bytes(head))).toStrictEqual([400, "Headers Not Ended"])
  })
})

describe("properties", () => {
  const token = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9.!%*_+`'~-]{1,12}$/))
  const uri = Schema.String.check(Schema.isPattern(/^sip:[a-z0-9.@;=%]{1,30}$/))
  const name = Schema.Literals([
    "Via",
    "From",
    "To",
    "Call-ID",
    "CSeq",
    "Contact",
    "X-Own",
    "Subject",
    "P-Asserted-Identity"
  ])
  const value = Schema.String.check(
    Schema.isPattern(/^([!-~\u00a1-\u07ff]([ -~\u00a1-\u07ff]{0,40}[!-~\u00a1-\u07ff])?)?$/)
  )
  const headers = Schema.Array(Schema.Tuple([name, value])).check(Schema.isMaxLength(12))
  const body = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(
    Schema.isMaxLength(40)
  )
  const start = Schema.Union([
    Schema.Struct({ type: Schema.Literal("request"), method: token, uri }),
    Schema.Struct({
      type: Schema.Literal("response"),
      status: Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 699 })),
      reason: value
    })
  ])

  it.prop(
    "parse after write gives the same message",
    { start, headers, body },
    ({ body, headers, start }) => {
      const message: SipMessage = {
        ...start,
        headers: [...headers, ["Content-Length", String(body.length)]],
        body: Uint8Array.from(body)
      }
      expect(ok(SipWriter.write(message))).toStrictEqual(message)
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "no bytes make the parser throw",
    { data: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))) },
    ({ data }) => void SipParser.parse(Uint8Array.from(data)),
    { arbitrary: { runs: 1000 } }
  )

  const edit = Schema.Struct({
    at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: invite.length - 1 })),
    remove: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
    insert: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(Schema.isMaxLength(3))
  })

  it.prop(
    "no mutated message makes the parser throw, and what it accepts can be written and read again",
    { edits: Schema.Array(edit).check(Schema.isMaxLength(8)) },
    ({ edits }) => {
      let data = Array.from(invite)
      for (const { at, insert, remove } of edits) data = [...data.slice(0, at), ...insert, ...data.slice(at + remove)]
      const parsed = SipParser.parse(Uint8Array.from(data))
      if (Result.isSuccess(parsed)) ok(SipWriter.write(parsed.success))
    },
    { arbitrary: { runs: 1000 } }
  )
})

describe("SipWriter", () => {
  const request = (headers: ReadonlyArray<readonly [string, string]>, uri = "sip:a"): SipMessage => ({
    type: "request",
    method: "INFO",
    uri,
    headers,
    body: bytes("abc")
  })

  it("corrects Content-Length in its place, or adds it last", () => {
    expect(
      text(
        SipWriter.write(
          request([
            ["content-length", "9"],
            ["v", "x"],
            ["Content-Length", "1"]
          ])
        )
      )
    ).toBe("INFO sip:a SIP/2.0\r\nContent-Length: 3\r\nVia: x\r\n\r\nabc")
    expect(text(SipWriter.write(request([["Via", "x"]])))).toBe(
      "INFO sip:a SIP/2.0\r\nVia: x\r\nContent-Length: 3\r\n\r\nabc"
    )
  })

  it("lets no value, name or URI start a header of its own", () => {
    const written = SipWriter.write(
      request(
        [
          ["Subject", "a\r\nRoute: <sip:evil>\r\n\r\nbody"],
          ["Bad\r\nName", "x"]
        ],
        "sip:a SIP/2.0\r\nRoute: x"
      )
    )
    expect(text(written)).toBe(
      "INFO sip:aSIP/2.0Route:x SIP/2.0\r\nSubject: a Route: <sip:evil> body\r\nContent-Length: 3\r\n\r\nabc"
    )
  })
})
