import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Sdp from "../../../../src/protocol/sip/sdp/Sdp.ts"

const bytes = (...lines: ReadonlyArray<string>) => new TextEncoder().encode(lines.map((line) => `${line}\r\n`).join(""))
const read = (...lines: ReadonlyArray<string>) => Result.getOrThrow(Sdp.parse(bytes(...lines)))

const base = ["v=0", "o=- 18446744073709551615 2 IN IP4 192.0.2.1", "s=-"]

describe("RFC 8866: session descriptions", () => {
  it("reads what a telephone sends", () => {
    const sdp = read(
      ...base,
      "c=IN IP4 192.0.2.1",
      "t=0 0",
      "a=recvonly",
      "m=audio 49170 RTP/AVP 8 97 101",
      "c=IN IP6 2001:db8::1",
      "a=rtpmap:8 PCMA/8000",
      "a=rtpmap:97 opus/48000/2",
      "a=rtpmap:101 telephone-event/8000",
      "a=fmtp:101 0-15",
      "a=ptime:30",
      "a=maxptime:150",
      "a=rtcp:53020 IN IP4 192.0.2.7",
      "a=sendonly",
      "a=candidate:0 1 UDP 2113667327 203.0.113.1 54400 typ host",
      "m=video 0 RTP/AVP 31"
    )
    expect(sdp).toStrictEqual({
      origin: { username: "-", sessionId: "18446744073709551615", sessionVersion: "2", address: "192.0.2.1" },
      name: "-",
      timing: { start: 0, stop: 0 },
      connection: "192.0.2.1",
      direction: "recvonly",
      media: [
        {
          type: "audio",
          port: 49170,
          protocol: "RTP/AVP",
          formats: ["8", "97", "101"],
          connection: "2001:db8::1",
          direction: "sendonly",
          rtpmaps: [
            { payloadType: 8, encoding: "PCMA", clockRate: 8000, channels: null },
            { payloadType: 97, encoding: "opus", clockRate: 48_000, channels: 2 },
            { payloadType: 101, encoding: "telephone-event", clockRate: 8000, channels: null }
          ],
          fmtps: [{ payloadType: 101, parameters: "0-15" }],
          ptimeMs: 30,
          maxPtimeMs: 150,
          rtcp: { port: 53_020, address: "192.0.2.7" }
        },
        {
          type: "video",
          port: 0,
          protocol: "RTP/AVP",
          formats: ["31"],
          connection: null,
          direction: null,
          rtpmaps: [],
          fmtps: [],
          ptimeMs: null,
          maxPtimeMs: null,
          rtcp: null
        }
      ]
    })
  })

  it("takes the first of several ports, and an address without its TTL", () => {
    const sdp = read(...base, "c=IN IP4 224.2.1.1/127", "t=0 0", "m=audio 49170/2 RTP/AVP 0")
    expect(sdp.connection).toBe("224.2.1.1")
    expect(sdp.media[0]).toMatchObject({ port: 49_170, formats: ["0"] })
  })

  it.each([
    ["no o=", ["v=0", "s=-"]],
    ["an m= line without formats", [...base, "m=audio 1 RTP/AVP"]],
    ["an m= line that is none", [...base, "m=-"]],
    ["a port that is none", [...base, "m=audio 65536 RTP/AVP 0"]],
    ["too many m= lines", [...base, ...Array.from({ length: 33 }, () => "m=audio 1 RTP/AVP 0")]],
    ["too many bytes", [...base, `i=${"x".repeat(Sdp.maxBytes)}`]]
  ])("refuses %s", (_what, lines) => expect(Result.isFailure(Sdp.parse(bytes(...lines)))).toBe(true))

  it("lets no value start a line of its own", () => {
    const sdp = { ...read(...base, "t=0 0"), name: "a\r\nm=audio 1 RTP/AVP 0" }
    expect(Result.getOrThrow(Sdp.parse(Sdp.write(sdp))).media.length).toBe(0)
  })
})

describe("properties", () => {
  const word = Schema.String.check(Schema.isPattern(/^[a-zA-Z][a-zA-Z0-9.-]{0,8}$/))
  const type = Schema.String.check(Schema.isPattern(/^[a-z]{1,8}$/))
  const number = (maximum: number, minimum = 0) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
  const address = Schema.Literals(["192.0.2.1", "0.0.0.0", "2001:db8::1"])
  const direction = Schema.NullOr(Schema.Literals(["sendrecv", "sendonly", "recvonly", "inactive"]))
  const list = <Item>(item: Schema.Schema<Item>) => Schema.Array(item).check(Schema.isMaxLength(4))
  const media = Schema.Struct({
    type,
    port: number(65_535),
    protocol: Schema.Literals(["RTP/AVP", "RTP/SAVPF", "udptl"]),
    formats: Schema.Array(word).check(Schema.isMinLength(1), Schema.isMaxLength(4)),
    connection: Schema.NullOr(address),
    direction,
    rtpmaps: list(
      Schema.Struct({
        payloadType: number(127),
        encoding: word,
        clockRate: number(192_000, 1),
        channels: Schema.NullOr(number(8, 1))
      })
    ),
    fmtps: list(Schema.Struct({ payloadType: number(127), parameters: word })),
    ptimeMs: Schema.NullOr(number(200)),
    maxPtimeMs: Schema.NullOr(number(200)),
    rtcp: Schema.NullOr(Schema.Struct({ port: number(65_535, 1), address: Schema.NullOr(address) }))
  })
  const sdp = Schema.Struct({
    origin: Schema.Struct({
      username: word,
      sessionId: Schema.String.check(Schema.isPattern(/^[1-9][0-9]{0,19}$/)),
      sessionVersion: Schema.String.check(Schema.isPattern(/^[1-9][0-9]{0,19}$/)),
      address
    }),
    name: word,
    timing: Schema.Struct({ start: number(2 ** 32), stop: number(2 ** 32) }),
    connection: Schema.NullOr(address),
    direction,
    media: list(media)
  })

  it.prop(
    "parse after write gives the same description",
    { sdp },
    ({ sdp }) => expect(Result.getOrThrow(Sdp.parse(Sdp.write(sdp)))).toEqual(sdp),
    { arbitrary: { runs: 500 } }
  )

  const valid = bytes(
    ...base,
    "c=IN IP4 192.0.2.1",
    "t=0 0",
    "m=audio 4 RTP/AVP 0 101",
    "a=rtpmap:101 telephone-event/8000",
    "a=ptime:20"
  )
  it.prop(
    "no bytes make it throw, mutated or random",
    {
      at: number(valid.length - 1),
      insert: Schema.Array(number(255)).check(Schema.isMaxLength(30)),
      remove: number(9)
    },
    ({ at, insert, remove }) =>
      void [
        Sdp.parse(Uint8Array.from([...valid.subarray(0, at), ...insert, ...valid.subarray(at + remove)])),
        Sdp.parse(Uint8Array.from(insert))
      ],
    { arbitrary: { runs: 1000 } }
  )
})
