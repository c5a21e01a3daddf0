import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as Sdp from "../../../../src/protocol/sip/sdp/Sdp.ts"
import * as SdpOffer from "../../../../src/protocol/sip/sdp/SdpOffer.ts"

const fixed = (encoding: string, payloadType: number): SdpOffer.Codec => ({
  encoding,
  clockRate: 8000,
  channels: 1,
  payloadType,
  fmtp: null
})
const [pcmu, pcma, g722] = [fixed("PCMU", 0), fixed("PCMA", 8), fixed("G722", 9)]
/** Codecs without an assigned payload type; one has another clock rate, two channels and parameters. */
const l16: SdpOffer.Codec = { encoding: "L16", clockRate: 16_000, channels: 1, payloadType: null, fmtp: null }
const opus: SdpOffer.Codec = {
  encoding: "opus",
  clockRate: 48_000,
  channels: 2,
  payloadType: null,
  fmtp: "useinbandfec=1"
}

const local: SdpOffer.Local = {
  addresses: { ipv4: "192.0.2.10", ipv6: null },
  family: "ipv4",
  port: 40_000,
  sessionId: "1234",
  sessionVersion: 1,
  direction: "sendrecv",
  codecs: [pcmu, pcma],
  codecChoice: "ours"
}

const sdp = (...lines: ReadonlyArray<string>): Sdp.Sdp =>
  Result.getOrThrow(
    Sdp.parse(
      new TextEncoder().encode(
        ["v=0", "o=- 1 1 IN IP4 192.0.2.1", "s=-", ...lines].map((line) => `${line}\r\n`).join("")
      )
    )
  )

const c = "c=IN IP4 192.0.2.1"
const text = (value: Sdp.Sdp) => new TextDecoder().decode(Sdp.write(value)).trimEnd().split("\r\n")
const answered = (offer: Sdp.Sdp, mine: Partial<SdpOffer.Local> = {}) =>
  Result.getOrThrow(SdpOffer.answer(offer, { ...local, ...mine }))

describe("RFC 3264 section 5: an offer", () => {
  it("offers our codecs and telephone events", () =>
    expect(text(SdpOffer.offer({ ...local, direction: "sendonly" }))).toStrictEqual([
      "v=0",
      "o=- 1234 1 IN IP4 192.0.2.10",
      "s=-",
      "c=IN IP4 192.0.2.10",
      "t=0 0",
      "m=audio 40000 RTP/AVP 0 8 101",
      "a=rtpmap:0 PCMU/8000",
      "a=rtpmap:8 PCMA/8000",
      "a=rtpmap:101 telephone-event/8000",
      "a=fmtp:101 0-16",
      "a=ptime:20",
      "a=sendonly"
    ]))

  it("describes each codec as it is, telephone events at every clock rate, and dynamic payload types in order", () =>
    expect(text(SdpOffer.offer({ ...local, codecs: [opus, g722, l16, pcmu] })).slice(5, -2)).toStrictEqual([
      "m=audio 40000 RTP/AVP 96 9 97 0 101 98 99",
      "a=rtpmap:96 opus/48000/2",
      "a=rtpmap:9 G722/8000",
      "a=rtpmap:97 L16/16000",
      "a=rtpmap:0 PCMU/8000",
      "a=rtpmap:101 telephone-event/48000",
      "a=rtpmap:98 telephone-event/8000",
      "a=rtpmap:99 telephone-event/16000",
      "a=fmtp:96 useinbandfec=1",
      "a=fmtp:101 0-16",
      "a=fmtp:98 0-16",
      "a=fmtp:99 0-16"
    ]))
})

describe("RFC 3264 section 8: another offer in the same dialog", () => {
  it("keeps the places of all streams and the payload type of telephone events", () => {
    const first = answered(
      sdp(
        c,
        "m=video 5000 RTP/AVP 31",
        "m=audio 4000 RTP/AVP 0 96",
        "a=rtpmap:96 telephone-event/8000",
        "m=text 7 RTP/AVP 9"
      )
    )
    const next = SdpOffer.offer({ ...local, sessionVersion: 2 }, first.answer)
    expect(next.origin.sessionVersion).toBe("2")
    expect(next.media.map(({ formats, type, port }) => [type, port, formats.join(" ")])).toStrictEqual([
      ["video", 0, "31"],
      ["audio", 40_000, "0 8 96"],
      ["text", 0, "9"]
    ])
  })
})

describe("RFC 3264 section 8.3.2: a payload type keeps its meaning", () => {
  const wide = { ...local, codecs: [opus, l16, pcmu] }
  const numbers = (description: Sdp.Sdp) =>
    description.media[0]?.rtpmaps.map(
      ({ clockRate, encoding, payloadType }) => `${payloadType} ${encoding}/${clockRate}`
    )

  it("in another offer of ours", () => {
    const first = SdpOffer.offer(wide)
    expect(numbers(SdpOffer.offer({ ...wide, codecs: [opus, pcmu] }, first))).toStrictEqual([
      "96 opus/48000",
      "0 PCMU/8000",
      "101 telephone-event/48000",
      "99 telephone-event/8000"
    ])
  })

  it("when the peer gave the numbers, also those that we would have given to others", () => {
    const { answer } = answered(
      sdp(c, "m=audio 4000 RTP/AVP 97 96", "a=rtpmap:97 OPUS/48000/2", "a=rtpmap:96 telephone-event/48000"),
      wide
    )
    expect(numbers(SdpOffer.offer(wide, answer))).toStrictEqual([
      "97 opus/48000",
      "100 L16/16000",
      "0 PCMU/8000",
      "96 telephone-event/48000",
      "98 telephone-event/16000",
      "99 telephone-event/8000"
    ])
  })

  it("when the peer gave a static number to another codec", () => {
    const { answer } = answered(sdp(c, "m=audio 4000 RTP/AVP 8", "a=rtpmap:8 PCMU/8000"))
    expect(numbers(SdpOffer.offer(local, answer))).toStrictEqual([
      "8 PCMU/8000",
      "96 PCMA/8000",
      "101 telephone-event/8000"
    ])
  })
})

describe("RFC 3264 section 6: an answer", () => {
  it("takes the codec that we want most, whatever the offer's order, or the offerer's first that we have", () => {
    const offer = sdp(c, "m=audio 4000 RTP/AVP 18 0 96 9", "a=rtpmap:96 opus/48000/2")
    const codecs = [g722, opus, pcmu]
    const ours = answered(offer, { codecs })
    expect([ours.agreed.codec.encoding, ours.agreed.audio.send]).toStrictEqual(["G722", 9])
    const theirs = answered(offer, { codecs, codecChoice: "theirs" })
    expect([theirs.agreed.codec.encoding, theirs.agreed.audio.send]).toStrictEqual(["PCMU", 0])
  })

  it("takes the codec under its number in the offer, with its parameters and the offer's timing", () => {
    const { agreed, answer } = answered(
      sdp(
        c,
        "t=5 9",
        "m=audio 4000 RTP/AVP 9 96 97",
        "a=rtpmap:96 pcma/8000",
        "a=rtpmap:97 telephone-event/8000",
        "a=fmtp:97 0-15",
        "a=fmtp:96 x=1;y=2",
        "a=ptime:30"
      )
    )
    expect(agreed).toStrictEqual({
      codec: { encoding: "PCMA", clockRate: 8000, channels: 1 },
      fmtp: "x=1;y=2",
      audio: { send: 96, receive: 96 },
      telephoneEvent: { send: 97, receive: 97, clockRate: 8000 },
      direction: "sendrecv",
      remote: { address: "192.0.2.1", port: 4000 },
      remoteRtcp: { address: "192.0.2.1", port: 4001 },
      ptimeMs: 30
    })
    expect(text(answer).slice(4)).toStrictEqual([
      "t=5 9",
      "m=audio 40000 RTP/AVP 96 97",
      "a=rtpmap:96 PCMA/8000",
      "a=rtpmap:97 telephone-event/8000",
      "a=fmtp:97 0-16",
      "a=ptime:20",
      "a=sendrecv"
    ])
  })

  it("tells codecs apart by name, clock rate and channels, and takes events at the clock rate of the codec", () => {
    const { agreed, answer } = answered(
      sdp(
        c,
        "m=audio 4000 RTP/AVP 96 97 98 99",
        "a=rtpmap:96 opus/48000/1",
        "a=rtpmap:97 OPUS/48000/2",
        "a=rtpmap:98 telephone-event/8000",
        "a=rtpmap:99 telephone-event/48000"
      ),
      { codecs: [pcmu, opus] }
    )
    expect(agreed).toMatchObject({
      codec: { encoding: "opus", clockRate: 48_000, channels: 2 },
      audio: { send: 97, receive: 97 },
      telephoneEvent: { send: 99, receive: 99, clockRate: 48_000 }
    })
    expect(text(answer).slice(5, 10)).toStrictEqual([
      "m=audio 40000 RTP/AVP 97 99",
      "a=rtpmap:97 opus/48000/2",
      "a=rtpmap:99 telephone-event/48000",
      "a=fmtp:97 useinbandfec=1",
      "a=fmtp:99 0-16"
    ])
  })

  it("takes events at 8000 Hz where the codec has another clock rate and there are no others", () => {
    const { agreed, answer } = answered(
      sdp(
        c,
        "m=audio 4000 RTP/AVP 97 101",
        "a=rtpmap:97 opus/48000/2",
        "a=rtpmap:101 telephone-event/8000",
        "a=fmtp:101 0-15"
      ),
      { codecs: [opus] }
    )
    expect(agreed.telephoneEvent).toStrictEqual({ send: 101, receive: 101, clockRate: 8000 })
    expect(text(answer)).toContain("a=rtpmap:101 telephone-event/8000")
  })

  it("knows G.722 by its static number and its clock rate of 8000", () => {
    const { agreed } = answered(sdp(c, "m=audio 4000 RTP/AVP 9 0"), { codecs: [g722, pcmu] })
    expect(agreed).toMatchObject({
      codec: { encoding: "G722", clockRate: 8000, channels: 1 },
      audio: { send: 9, receive: 9 }
    })
  })

  it("offers no telephone events when the offer had none", () => {
    const { agreed, answer } = answered(sdp(c, "m=audio 4000 RTP/AVP 8 0"))
    expect(agreed.telephoneEvent).toBeNull()
    expect(answer.media[0]?.formats).toStrictEqual(["0"])
  })

  it("accepts the first usable audio stream and refuses the others in their places", () => {
    const { agreed, answer } = answered(
      sdp(
        c,
        "m=video 5000 RTP/AVP 31",
        "m=audio 0 RTP/AVP 0",
        "m=audio 6000 RTP/SAVP 0",
        "m=audio 7000 RTP/AVP 9",
        "m=audio 8000 RTP/AVP 0",
        "c=IN IP4 192.0.2.8",
        "a=rtcp:9000",
        "m=audio 8002 RTP/AVP 0"
      )
    )
    expect(agreed.remote).toStrictEqual({ address: "192.0.2.8", port: 8000 })
    expect(agreed.remoteRtcp).toStrictEqual({ address: "192.0.2.8", port: 9000 })
    expect(
      answer.media.map(({ formats, type, port, protocol }) => [type, port, protocol, formats.join(" ")])
    ).toStrictEqual([
      ["video", 0, "RTP/AVP", "31"],
      ["audio", 0, "RTP/AVP", "0"],
      ["audio", 0, "RTP/SAVP", "0"],
      ["audio", 0, "RTP/AVP", "9"],
      ["audio", 40_000, "RTP/AVP", "0"],
      ["audio", 0, "RTP/AVP", "0"]
    ])
  })

  it("takes a stream with the feedback profile of RFC 4585, and answers and offers again under that profile", () => {
    const { agreed, answer } = answered(sdp(c, "m=audio 4000 RTP/AVPF 0", "a=rtcp-fb:0 nack"))
    expect(agreed.remote).toStrictEqual({ address: "192.0.2.1", port: 4000 })
    expect(text(answer)).toContain("m=audio 40000 RTP/AVPF 0")
    expect(text(SdpOffer.offer(local, answer))).toContain("m=audio 40000 RTP/AVPF 0 8 101")
    expect(Result.isSuccess(SdpOffer.accept(SdpOffer.offer(local), sdp(c, "m=audio 4 RTP/AVPF 0")))).toBe(true)
  })

  it.each([
    [["a=ptime:10"], 10],
    [["a=ptime:30"], 30],
    [["a=ptime:60"], 60],
    [["a=ptime:5"], 10],
    [["a=ptime:200"], 60],
    [["a=ptime:0"], 20],
    [[], 20],
    [["a=ptime:40", "a=maxptime:30"], 30],
    [["a=maxptime:10"], 10],
    [["a=maxptime:150"], 20],
    [["a=maxptime:0"], 20]
  ])("sends packets as long as the peer asks by %j: %i ms", (lines, ptimeMs) => {
    expect(answered(sdp(c, "m=audio 4000 RTP/AVP 0", ...lines)).agreed.ptimeMs).toBe(ptimeMs)
  })

  it.each([
    ["sendrecv", "sendrecv", "sendrecv"],
    ["sendonly", "sendrecv", "recvonly"],
    ["recvonly", "sendrecv", "sendonly"],
    ["inactive", "sendrecv", "inactive"],
    ["sendrecv", "recvonly", "recvonly"],
    ["sendonly", "sendonly", "inactive"]
  ] as const)("mirrors %s, wanting %s, as %s", (offered, wanted, expected) => {
    for (const offer of [
      sdp(c, "m=audio 4 RTP/AVP 0", `a=${offered}`),
      sdp(c, `a=${offered}`, "m=audio 4 RTP/AVP 0")
    ]) {
      const { agreed, answer } = answered(offer, { direction: wanted })
      expect(agreed.direction).toBe(expected)
      expect(answer.media[0]?.direction).toBe(expected)
    }
  })

  it("takes c=0.0.0.0 as hold: it sends nothing there", () => {
    const { agreed } = answered(sdp("c=IN IP4 0.0.0.0", "m=audio 4000 RTP/AVP 0"))
    expect(agreed).toMatchObject({ direction: "recvonly", remote: null, remoteRtcp: null })
  })

  it.each([
    ["no common codec", [c, "m=audio 4 RTP/AVP 9 101", "a=rtpmap:101 telephone-event/8000"]],
    ["a static number that means something else", [c, "m=audio 4 RTP/AVP 0", "a=rtpmap:0 GSM/8000"]],
    [
      "the wrong clock rate or channels",
      [c, "m=audio 4 RTP/AVP 96 97", "a=rtpmap:96 PCMU/16000", "a=rtpmap:97 PCMU/8000/2"]
    ],
    ["no audio", [c, "m=video 4 RTP/AVP 0"]],
    ["encryption only", [c, "m=audio 4 RTP/SAVP 0"]],
    ["no address", ["m=audio 4 RTP/AVP 0"]],
    ["nothing", [c]]
  ])("refuses with 488: %s", (_what, lines) => {
    const result = SdpOffer.answer(sdp(...lines), local)
    expect(Result.isFailure(result) && result.failure.status === 488).toBe(true)
  })

  it.each(["RTP/SAVP", "RTP/SAVPF", "UDP/TLS/RTP/SAVPF"])("says of %s alone that it is not supported", (protocol) => {
    const answer = (...lines: ReadonlyArray<string>) => SdpOffer.answer(sdp(...lines), local)
    const encrypted = `m=audio 4 ${protocol} 0`
    expect(Result.getFailure(answer(c, encrypted))).toMatchObject({
      value: { reason: expect.stringContaining("SRTP") }
    })
    expect(Result.isSuccess(answer(c, encrypted, "m=audio 6 RTP/AVP 0"))).toBe(true)
  })
})

describe("addresses of both families", () => {
  const both = { ...local, addresses: { ipv4: "192.0.2.10", ipv6: "2001:db8::10" } }
  const connectionOf = (description: Sdp.Sdp) => text(description).filter((line) => /^[co]=/.test(line))
  const from = (connection: string) => sdp(`c=${connection}`, "t=0 0", "m=audio 5004 RTP/AVP 0")

  it("offers that of its peer, and goes on with what the session has", () => {
    const offer = SdpOffer.offer({ ...both, family: "ipv6" })
    expect(connectionOf(offer)).toEqual(["o=- 1234 1 IN IP6 2001:db8::10", "c=IN IP6 2001:db8::10"])
    expect(connectionOf(SdpOffer.offer(both, offer))).toEqual(connectionOf(offer))
  })

  it("answers with that of the offer, whatever way it came", () => {
    for (const family of ["ipv4", "ipv6"] as const) {
      const answer = (connection: string) => connectionOf(answered(from(connection), { ...both, family }).answer)[1]
      expect(answer("IN IP6 2001:db8::1")).toBe("c=IN IP6 2001:db8::10")
      expect(answer("IN IP4 192.0.2.1")).toBe("c=IN IP4 192.0.2.10")
      expect(answer("IN IP6 ::ffff:192.0.2.1")).toBe("c=IN IP4 192.0.2.10")
    }
  })

  it("takes an address in IPv6 form for the IPv4 one that it is", () => {
    expect(answered(from("IN IP6 ::ffff:192.0.2.1")).agreed.remote).toEqual({ address: "192.0.2.1", port: 5004 })
    expect(answered(from("IN IP6 2001:DB8:0::1"), both).agreed.remote).toEqual({ address: "2001:db8::1", port: 5004 })
  })

  it("refuses an offer of a family that we do not speak", () => {
    expect(Result.isFailure(SdpOffer.answer(from("IN IP6 2001:db8::1"), local))).toBe(true)
    const held = answered(from("IN IP6 ::")).answer
    expect(connectionOf(held)[1]).toBe("c=IN IP4 192.0.2.10")
  })
})

describe("RFC 3264 section 7: the answer to our offer", () => {
  const offer = SdpOffer.offer(local)
  const accept = (...lines: ReadonlyArray<string>) => SdpOffer.accept(offer, sdp(...lines))

  it("sends with the answerer's payload types and receives with ours", () =>
    expect(
      Result.getOrThrow(
        accept(
          "c=IN IP6 2001:db8::1",
          "m=audio 4000 RTP/AVP 8 96",
          "a=rtpmap:96 telephone-event/8000",
          "a=rtcp:5 IN IP4 192.0.2.3",
          "a=recvonly"
        )
      )
    ).toStrictEqual({
      codec: { encoding: "PCMA", clockRate: 8000, channels: 1 },
      fmtp: null,
      audio: { send: 8, receive: 8 },
      telephoneEvent: { send: 96, receive: 101, clockRate: 8000 },
      direction: "sendonly",
      remote: { address: "2001:db8::1", port: 4000 },
      remoteRtcp: { address: "192.0.2.3", port: 5 },
      ptimeMs: 20
    }))

  it("sends a codec under the number of the answer and receives it under that of the offer", () => {
    const wide = SdpOffer.offer({ ...local, codecs: [opus, pcmu] })
    const answer = sdp(
      c,
      "m=audio 4000 RTP/AVP 111 112",
      "a=rtpmap:111 opus/48000/2",
      "a=rtpmap:112 telephone-event/48000"
    )
    expect(Result.getOrThrow(SdpOffer.accept(wide, answer))).toMatchObject({
      codec: { encoding: "opus", clockRate: 48_000, channels: 2 },
      audio: { send: 111, receive: 96 },
      telephoneEvent: { send: 112, receive: 101, clockRate: 48_000 }
    })
  })

  it("has events at 8000 Hz beside any codec where the answer has no others", () => {
    const wide = SdpOffer.offer({ ...local, codecs: [opus] })
    expect(text(wide)).toContain("a=rtpmap:97 telephone-event/8000")
    const answer = sdp(c, "m=audio 4000 RTP/AVP 96 97", "a=rtpmap:96 opus/48000/2", "a=rtpmap:97 telephone-event/8000")
    expect(Result.getOrThrow(SdpOffer.accept(wide, answer)).telephoneEvent).toStrictEqual({
      send: 97,
      receive: 97,
      clockRate: 8000
    })
  })

  it("never widens the offer", () => {
    const held = SdpOffer.accept(SdpOffer.offer({ ...local, direction: "sendonly" }), sdp(c, "m=audio 4 RTP/AVP 0"))
    expect(Result.getOrThrow(held).direction).toBe("sendonly")
  })

  it.each([
    ["refused audio", [c, "m=audio 0 RTP/AVP 0"]],
    ["a codec that was not offered", [c, "m=audio 4 RTP/AVP 9"]],
    ["another profile", [c, "m=audio 4 RTP/SAVP 0"]],
    ["more streams", [c, "m=audio 4 RTP/AVP 0", "m=video 0 RTP/AVP 31"]],
    ["fewer streams", [c]]
  ])("refuses %s", (_what, lines) => expect(Result.isFailure(accept(...lines))).toBe(true))

  it("agrees with the answerer, seen from both sides", () => {
    const other = {
      ...local,
      addresses: { ipv4: "192.0.2.20", ipv6: null },
      port: 50_000,
      codecs: [pcma],
      direction: "recvonly" as const
    }
    const theirs = answered(offer, other)
    const ours = Result.getOrThrow(SdpOffer.accept(offer, theirs.answer))
    expect(ours).toMatchObject({
      codec: { encoding: "PCMA", clockRate: 8000, channels: 1 },
      direction: "sendonly",
      remote: { address: "192.0.2.20", port: 50_000 }
    })
    expect(theirs.agreed).toMatchObject({
      codec: { encoding: "PCMA", clockRate: 8000, channels: 1 },
      direction: "recvonly",
      remote: { address: "192.0.2.10", port: 40_000 }
    })
  })
})
