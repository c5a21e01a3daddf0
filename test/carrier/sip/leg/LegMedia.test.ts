import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import * as LegMedia from "../../../../src/carrier/sip/leg/LegMedia.ts"
import * as IpAddress from "../../../../src/domain/network/IpAddress.ts"
import type { MediaPlane, RtpPlace, RtpRemote } from "../../../../src/media/plane/MediaPlane.ts"
import type * as SdpOffer from "../../../../src/protocol/sip/sdp/SdpOffer.ts"
import * as Ids from "../../../support/Ids.ts"

/** The media of a leg over a plane that records; `place` opens when the test lets it. */
const make = (place: Effect.Effect<RtpPlace>) => {
  const log: Array<string> = []
  const remotes: Array<RtpRemote> = []
  const unused = () => Effect.die("unused")
  const plane: MediaPlane["Service"] = {
    addresses: IpAddress.only("192.0.2.1"),
    openRtp: () => place,
    connectRtp: (_, remote) => Effect.sync(() => void remotes.push(remote)),
    openPhone: unused,
    openJoined: unused,
    capture: unused,
    attend: unused,
    bridge: unused,
    unbridge: unused,
    openRoom: unused,
    enterRoom: unused,
    leaveRoom: unused,
    changeMember: unused,
    beep: unused,
    press: (_, digit, taken) =>
      Effect.sync(() => {
        log.push(`press ${digit}`)
        taken(false)
      }),
    command: unused,
    close: () => Effect.sync(() => void log.push("close")),
    subscribe: () => Effect.void
  }
  const media = LegMedia.make({
    tenantId: Ids.tenant("t"),
    near: null,
    legId: Ids.leg("l"),
    plane,
    run: (effect, settled) => void Effect.runFork(effect).addObserver(settled),
    heard: { told: () => undefined, lost: () => undefined }
  })
  return { media, remotes, log }
}

const at: RtpPlace = {
  addresses: IpAddress.only("192.0.2.1"),
  port: 40_000,
  placement: { gateway: "local", thread: 0 }
}
const here = Effect.succeed(at)

/** The result of an answer to an offer of PCMU and telephone events. */
const terms: SdpOffer.Agreed = {
  codec: { encoding: "PCMU", clockRate: 8_000, channels: 1 },
  fmtp: "annexb=no",
  audio: { send: 0, receive: 0 },
  telephoneEvent: { send: 96, receive: 101, clockRate: 8000 },
  direction: "recvonly",
  remote: { address: "2001:db8::8", port: 30_000 },
  remoteRtcp: null,
  ptimeMs: 40
}

describe("the media of a leg", () => {
  it("points its place at the peer: its hosts, payload types of each direction", () => {
    const { media, remotes } = make(here)
    media.open("2001:db8::9", () => undefined)
    media.connect(terms)
    media.connect({ ...terms, remoteRtcp: { address: "2001:db8::8", port: 30_009 }, telephoneEvent: null })
    expect(remotes).toEqual([
      {
        address: "2001:db8::8",
        port: 30_000,
        signallingAddress: "2001:db8::9",
        rtcpPort: 30_001,
        codec: "PCMU",
        fmtp: "annexb=no",
        audio: { send: 0, receive: 0 },
        telephoneEvent: { send: 96, receive: 101, clockRate: 8000 },
        ptimeMs: 40,
        direction: "recvonly"
      },
      expect.objectContaining({ rtcpPort: 30_009, telephoneEvent: null })
    ])
  })

  it("points nowhere while it is not known where the peer is", () => {
    const { media, remotes } = make(here)
    media.open("192.0.2.2", () => undefined)
    media.connect({ ...terms, remote: null })
    expect(remotes).toEqual([])
  })

  it.effect("gives back a place that it gets after it was closed", () =>
    Effect.gen(function* () {
      const place = yield* Deferred.make<RtpPlace>()
      const { log, media } = make(Deferred.await(place))
      let told = false
      media.open("192.0.2.2", () => {
        told = true
      })
      media.close()
      expect(log).toEqual([])
      yield* Deferred.succeed(place, at)
      yield* Effect.yieldNow
      expect(log).toEqual(["close"])
      expect(told).toBe(false)
    })
  )
})
