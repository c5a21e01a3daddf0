import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as Grammar from "../../../../src/protocol/sip/message/Grammar.ts"
import * as NameAddr from "../../../../src/protocol/sip/message/header/NameAddr.ts"
import { header, headers, type SipMessage } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../../src/protocol/sip/message/SipParser.ts"
import * as SipUri from "../../../../src/protocol/sip/message/header/SipUri.ts"
import * as Validate from "../../../../src/protocol/sip/message/Validate.ts"
import * as Via from "../../../../src/protocol/sip/message/header/Via.ts"

const folder = new URL("../../../../shared/fixtures/rfc4475/", import.meta.url)
const present = existsSync(folder)
const load = (name: string) => new Uint8Array(readFileSync(new URL(`${name}.dat`, folder)))

/**
 * The reaction of a user agent to each message of RFC 4475. Where the RFC leaves a choice between strict and liberal,
 * the row notes the choice and its reason.
 */
type Row = readonly [section: string, name: string, verdict: "accept" | "drop" | number, note: string]

const table: ReadonlyArray<Row> = [
  ["3.1.1.1", "wsinv", "accept", "a short tortuous INVITE"],
  ["3.1.1.2", "intmeth", "accept", "wide range of valid characters (the method is 405 later)"],
  ["3.1.1.3", "esc01", "accept", "valid use of the % escaping mechanism"],
  ["3.1.1.4", "escnull", "accept", "escaped nulls in URIs"],
  ["3.1.1.5", "esc02", "accept", "use of % when it is not an escape (the method is 405 later)"],
  ["3.1.1.6", "lwsdisp", "accept", "no LWS between display name and <"],
  ["3.1.1.7", "longreq", "accept", "long values in header fields"],
  ["3.1.1.8", "dblreq", "accept", "extra trailing octets in a UDP datagram"],
  ["3.1.1.9", "semiuri", "accept", "semicolon-separated parameters in URI user part"],
  ["3.1.1.10", "transports", "accept", "varied and unknown transport types"],
  ["3.1.1.11", "mpart01", "accept", "multipart MIME message"],
  ["3.1.1.12", "unreason", "accept", "unusual reason phrase"],
  ["3.1.1.13", "noreason", "accept", "empty reason phrase"],
  ["3.1.2.1", "badinv01", 400, "extraneous header field separators"],
  ["3.1.2.2", "clerr", 400, "Content-Length larger than message"],
  ["3.1.2.3", "ncl", 400, "negative Content-Length"],
  ["3.1.2.4", "scalar02", 400, "overlarge scalar values in a request: for its CSeq"],
  ["3.1.2.5", "scalarlg", "drop", "overlarge scalar values in a response"],
  ["3.1.2.6", "quotbal", 400, "unterminated quoted string in display name"],
  ["3.1.2.7", "ltgtruri", 400, "<> enclosing Request-URI"],
  ["3.1.2.8", "lwsruri", 400, "embedded LWS in Request-URI"],
  ["3.1.2.9", "lwsstart", 400, "multiple SP between Request-Line elements: strict"],
  ["3.1.2.10", "trws", 400, "SP at end of Request-Line: strict"],
  ["3.1.2.11", "escruri", 400, "escaped headers in Request-URI: strict, they could only do harm"],
  ["3.1.2.12", "baddate", "accept", "invalid time zone in Date: we do not use it"],
  ["3.1.2.13", "regbadct", 400, "name-addr URI not enclosed in <>"],
  ["3.1.2.14", "badaspec", 400, "spaces within addr-spec: strict"],
  ["3.1.2.15", "baddn", 400, "non-token characters in display name: strict about the comma"],
  ["3.1.2.16", "badvers", 505, "unknown protocol version"],
  ["3.1.2.17", "mismatch01", 400, "start line and CSeq method mismatch"],
  ["3.1.2.18", "mismatch02", 501, "unknown method with CSeq method mismatch"],
  ["3.1.2.19", "bigcode", "drop", "overlarge response code"],
  ["3.2.1", "badbranch", 400, "missing transaction identifier"],
  ["3.3.1", "insuf", 400, "missing required header fields"],
  ["3.3.2", "unkscm", 416, "Request-URI with unknown scheme"],
  ["3.3.3", "novelsc", 416, "Request-URI with known but atypical scheme"],
  ["3.3.4", "unksm2", "accept", "unknown URI schemes in header fields: a registrar refuses, a parser does not"],
  ["3.3.5", "bext01", 420, "Proxy-Require and Require"],
  ["3.3.6", "invut", 415, "unknown Content-Type"],
  ["3.3.7", "regaut01", "accept", "unknown authorization scheme"],
  ["3.3.8", "multi01", 400, "multiple values in single value required fields"],
  ["3.3.9", "mcl01", 400, "multiple Content-Length values"],
  ["3.3.10", "bcast", "drop", "200 OK response with broadcast Via: two Vias at a user agent"],
  ["3.3.11", "zeromf", "accept", "Max-Forwards of zero, at its destination"],
  ["3.3.12", "cparam01", "accept", "REGISTER with a Contact header parameter"],
  ["3.3.13", "cparam02", "accept", "REGISTER with a url parameter"],
  ["3.3.14", "regescrt", "accept", "REGISTER with a URL escaped header"],
  ["3.3.15", "sdp01", 406, "unacceptable Accept offering"],
  ["3.4.1", "inv2543", "accept", "INVITE with RFC 2543 syntax"]
]

const verdict = (data: Uint8Array): Row[2] => {
  const parsed = SipParser.parse(data)
  if (Result.isFailure(parsed)) return parsed.failure.type === "reject" ? parsed.failure.status : "drop"
  const message = parsed.success
  const judged = message.type === "request" ? Validate.request(message) : Validate.response(message)
  return judged.type === "reject" ? judged.status : judged.type
}

describe.skipIf(!present)("RFC 4475: torture messages", () => {
  it("covers every message that is there", () => {
    const files = present ? readdirSync(folder).filter((file) => file.endsWith(".dat")) : []
    expect(files.map((file) => file.slice(0, -4)).sort()).toStrictEqual(table.map(([, name]) => name).sort())
  })

  it.each(table)("%s %s: %s, %s", (_section, name, expected) => {
    expect(verdict(load(name))).toBe(expected)
  })

  const read = (name: string): SipMessage => Result.getOrThrow(SipParser.parse(load(name)))

  it("reads the tortuous INVITE as the RFC means it", () => {
    const message = read("wsinv")
    const vias = Result.getOrThrow(Via.parseAll(headers(message, "Via")))
    expect(vias.map((via) => [via.transport, via.host, Via.branch(via)])).toStrictEqual([
      ["UDP", "192.0.2.2", "390skdjuw"],
      ["TCP", "spindle.example.com", "z9hG4bK9ikj8"],
      ["UDP", "192.168.255.111", "z9hG4bK30239"]
    ])
    const to = Result.getOrThrow(NameAddr.parse(header(message, "To") ?? ""))
    expect(to).toMatchObject({ uri: "sip:vivekg@chair-dnrc.example.com", params: [["tag", "1918181833n"]] })
    const from = Result.getOrThrow(NameAddr.parse(header(message, "From") ?? ""))
    expect(from).toMatchObject({ displayName: 'J Rosenberg \\"', params: [["tag", "98asjd8"]] })
    const contact = Result.getOrThrow(NameAddr.parse(header(message, "Contact") ?? ""))
    expect(contact.params).toStrictEqual([
      ["newparam", "newvalue"],
      ["secondparam", null],
      ["q", "0.33"]
    ])
    expect(header(message, "Max-Forwards")).toBe("0068")
    expect(header(message, "Subject")).toBe("")
    expect(header(message, "NewFangledHeader")).toBe("newfangled value continued newfangled value")
    expect(message.body.length).toBe(150)
  })

  it("decodes escapes, but keeps what they protect", () => {
    const message = read("esc01")
    const uri = Result.getOrThrow(SipUri.parseSipUri(message.type === "request" ? message.uri : ""))
    expect(uri.user).toBe("sips%3Auser%40example.com")
    expect(SipUri.decoded(uri.user ?? "")).toBe("sips:user@example.com")
    expect(uri.host).toBe("example.net")
    const nulls = Result.getOrThrow(NameAddr.parseAll(headers(read("escnull"), "Contact")))
    expect(
      nulls.map((contact) => SipUri.decoded(Result.getOrThrow(SipUri.parseSipUri(contact.uri)).user ?? ""))
    ).toStrictEqual(["\0", "\0\0"])
  })

  it("names what a Require asks for in vain", () => {
    const message = read("bext01")
    const judged = message.type === "request" ? Validate.request(message) : undefined
    expect(judged).toMatchObject({ headers: [["Unsupported", "nothingSupportsThis, nothingSupportsThisEither"]] })
  })

  it("leaves a header alone whose name only looks escaped", () => {
    const message = read("esc02")
    expect(header(message, "C%6Fntact")).toBe("<sip:alias2@host2.example.com>")
    expect(Grammar.tokens(headers(message, "Contact")).length).toBe(2)
  })
})
