/** The effect of peers' bodies on a call: descriptions among other parts, and those that are unusable. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import { type Header, header } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as Rig from "../Rig.ts"

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const body = (type: string, content: string): Requests.Body => ({ type, bytes: new TextEncoder().encode(content) })
const sdp = (address: string) => text(Rig.sdp()).replace("c=IN IP4 192.0.2.2", `c=IN IP4 ${address}`)
/** The description follows a location, as in an emergency call (RFC 6442). */
const multipart = body(
  'multipart/mixed; boundary="part"',
  ["application/pidf+xml\r\n\r\n<presence/>", `application/sdp\r\n\r\n${text(Rig.sdp())}`]
    .map((part) => `--part\r\nContent-Type: ${part}\r\n`)
    .join("") + "--part--\r\n"
)

/** The result of an INVITE with this body when the call is answered. */
const called = Effect.fnUntraced(function* (given: Requests.Body, headers: ReadonlyArray<Header> = []) {
  const rig = yield* Rig.make("body")
  yield* rig.deliver(Rig.invite({ body: given, headers }))
  if (rig.offers.length > 0) yield* rig.command({ ...Rig.ofOffered(rig), type: "answer" })
  const sent = rig.sent()
  const last = sent.at(-1)?.message
  return { rig, sent, status: last?.type === "response" ? last.status : null, last }
})

const dialled = Effect.fnUntraced(function* (answer: Requests.Body) {
  const rig = yield* Rig.make("body")
  yield* rig.command(Rig.dial)
  yield* rig.deliver(Rig.reply(Rig.requestOf(rig.sent(), "INVITE"), 200, { body: answer }))
  return { rig, sent: rig.sent() }
})

/** The same session twice, the better way last. */
const alternatives = body(
  "multipart/alternative; boundary=part",
  [30_999, 30_000].map((port) => `--part\r\nContent-Type: application/sdp\r\n\r\n${text(Rig.sdp(port))}\r\n`).join("") +
    "--part--\r\n"
)

describe("the body of a peer's INVITE", () => {
  it.effect("may hold the description among other parts", () =>
    Effect.gen(function* () {
      const { last, rig, status } = yield* called(multipart)
      expect(status).toBe(200)
      expect(text(last?.body ?? new Uint8Array())).toContain("m=audio")
      expect(rig.connections()).toMatchObject([{ address: "192.0.2.2", port: 30_000 }])
    })
  )

  it.effect("of another type is refused with 415 and what is read, without an offer", () =>
    Effect.gen(function* () {
      const { last, rig, status } = yield* called(body("text/plain", "hello"))
      expect([status, rig.offers]).toEqual([415, []])
      expect(last === undefined ? "" : header(last, "Accept")).toContain("application/sdp")
    })
  )

  it.effect("that is compressed is refused with 415 and what is unpacked", () =>
    Effect.gen(function* () {
      const { last, status } = yield* called(Rig.sdpBody(), [["Content-Encoding", "gzip"]])
      expect(status).toBe(415)
      expect(last === undefined ? "" : header(last, "Accept-Encoding")).toBe("identity")
    })
  )

  for (const address of ["224.2.1.1/127", "255.255.255.255", "phone.example.net"])
    it.effect(`that wants media at ${address} is refused with 488, and nothing is sent there`, () =>
      Effect.gen(function* () {
        const { rig, status } = yield* called(body("application/sdp", sdp(address)))
        expect(status).toBe(488)
        expect(rig.connections()).toEqual([])
      })
    )
})

describe("what bodies are read", () => {
  it.effect("is told to a peer that asks", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("asked")
      yield* rig.deliver(
        Requests.make({
          method: "OPTIONS",
          uri: "sip:192.0.2.1",
          sentBy: "192.0.2.2:5062",
          branch: "z9hG4bKasked",
          from: "<sip:192.0.2.2>;tag=bob",
          to: "<sip:192.0.2.1>",
          callId: "asked",
          cseq: 1
        })
      )
      const accepted = header(Rig.responseOf(rig.sent(), 200), "Accept")?.split(", ")
      expect(accepted).toEqual([
        "application/sdp",
        "multipart/mixed",
        "multipart/alternative",
        "application/dtmf-relay",
        "application/dtmf",
        "application/vnd.nortelnetworks.digits",
        "message/sipfrag"
      ])
    })
  )
})

describe("the body of an answer to our INVITE", () => {
  it.effect("may hold the description among other parts", () =>
    Effect.gen(function* () {
      const { rig, sent } = yield* dialled(alternatives)
      expect(Rig.names(sent)).toEqual(["ACK"])
      expect(rig.connections()).toMatchObject([{ address: "192.0.2.2", port: 30_000 }])
    })
  )

  for (const address of ["239.1.1.1/16", "255.255.255.255", "phone.example.net"])
    it.effect(`that wants media at ${address} ends the call with ACK and BYE, and nothing is sent there`, () =>
      Effect.gen(function* () {
        const { rig, sent } = yield* dialled(body("application/sdp", sdp(address)))
        expect(Rig.names(sent)).toEqual(["ACK", "BYE"])
        yield* rig.deliver(Rig.reply(Rig.requestOf(sent, "BYE"), 200))
        expect(Rig.words(rig.told())).toEqual(["leaving error - network", "ended error - network"])
        expect(rig.connections()).toEqual([])
      })
    )
})

describe("the number that a call of ours shows", () => {
  it.effect("is the tenant's, asserted and not withheld", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("shown")
      yield* rig.command(Rig.dial)
      const invite = Rig.requestOf(rig.sent(), "INVITE")
      expect(header(invite, "From")).toMatch(/^<sip:\+12025550150@192\.0\.2\.1>;tag=/)
      expect(header(invite, "P-Asserted-Identity")).toBe("<sip:+12025550150@192.0.2.1>")
      expect(header(invite, "Privacy")).toBeNull()
    })
  )
})
