import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as Sdp from "../../../../src/protocol/sip/sdp/Sdp.ts"
import * as SdpAddress from "../../../../src/protocol/sip/sdp/SdpAddress.ts"
import * as SdpOffer from "../../../../src/protocol/sip/sdp/SdpOffer.ts"

const kinds: ReadonlyArray<readonly [address: string, kind: SdpAddress.SdpAddress]> = [
  ["192.0.2.2", "unicast"],
  ["223.255.255.255", "unicast"],
  ["2001:db8::2", "unicast"],
  ["::ffff:192.0.2.2", "unicast"],
  ["0.0.0.0", "held"],
  ["::", "held"],
  ["224.0.0.0", "refused"],
  ["239.255.255.255", "refused"],
  ["ff02::1", "refused"],
  ["::ffff:224.2.1.1", "refused"],
  ["255.255.255.255", "refused"],
  ["0.0.0.1", "refused"],
  ["phone.example.net", "refused"],
  ["3221225986", "refused"],
  ["", "refused"]
]

const description = (session: string, media: string | null = null): Sdp.Sdp =>
  Result.getOrThrow(
    Sdp.parse(
      new TextEncoder().encode(
        [
          "v=0",
          "o=- 1 1 IN IP4 192.0.2.2",
          "s=-",
          `c=IN ${session.includes(":") ? "IP6" : "IP4"} ${session}`,
          "t=0 0",
          "m=audio 30000 RTP/AVP 0",
          ...(media === null ? [] : [`c=IN IP4 ${media}`]),
          ""
        ].join("\r\n")
      )
    )
  )

const local: SdpOffer.Local = {
  addresses: { ipv4: "192.0.2.1", ipv6: "2001:db8::1" },
  family: "ipv4",
  port: 40_000,
  sessionId: "1",
  sessionVersion: 1,
  direction: "sendrecv",
  codecs: [{ encoding: "PCMU", clockRate: 8000, channels: 1, payloadType: 0, fmtp: null }],
  codecChoice: "ours"
}

describe("the address of a c= line", () => {
  for (const [address, kind] of kinds)
    it(`is ${kind} when it is "${address}"`, () => {
      expect(SdpAddress.kindOf(address)).toBe(kind)
    })

  for (const [session, media] of [
    ["224.2.1.1/127", null],
    ["192.0.2.2", "224.2.1.1/127/3"],
    ["ff15::101", null],
    ["255.255.255.255", null],
    ["phone.example.net", null]
  ] as const)
    it(`is refused where media would go to a group, a broadcast or a name: ${media ?? session}`, () => {
      const theirs = description(session, media)
      expect(Result.getFailure(SdpOffer.answer(theirs, local))).toMatchObject({ value: { status: 488 } })
      expect(Result.isFailure(SdpOffer.accept(SdpOffer.offer(local), theirs))).toBe(true)
    })

  it("counts for the stream before that of the session", () => {
    const agreed = Result.map(SdpOffer.answer(description("224.2.1.1", "192.0.2.2"), local), ({ agreed }) => agreed)
    expect(Result.getOrThrow(agreed).remote).toEqual({ address: "192.0.2.2", port: 30_000 })
  })

  it("holds without anywhere to send when it is 0.0.0.0", () => {
    const agreed = Result.map(SdpOffer.answer(description("0.0.0.0"), local), ({ agreed }) => agreed)
    expect(Result.getOrThrow(agreed)).toMatchObject({ remote: null, direction: "recvonly" })
  })
})
