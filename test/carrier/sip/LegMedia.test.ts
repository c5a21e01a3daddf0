import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Result } from "effect"
import * as LegMedia from "../../../src/carrier/sip/LegMedia.ts"
import type { MediaPlane, RtpRemote } from "../../../src/media/MediaPlane.ts"
import * as Ids from "../../support/Ids.ts"
import * as Rig from "./Rig.ts"

/** The media of a leg over a plane that records; `place` opens when the test says so. */
const make = (place: Effect.Effect<{ readonly address: string; readonly port: number }>) => {
  const log: Array<string> = []
  const remotes: Array<RtpRemote> = []
  const unused = () => Effect.die("unused")
  const plane: MediaPlane["Service"] = {
    openRtp: () => place,
    connectRtp: (_, remote) => Effect.sync(() => void remotes.push(remote)),
    openPhone: unused,
    openJoined: unused,
    command: unused,
    close: () => Effect.sync(() => void log.push("close")),
    subscribe: () => Effect.void
  }
  const media = LegMedia.make({
    legId: Ids.leg("l"),
    sessionId: "7",
    plane,
    run: (effect, settled) => void Effect.runFork(effect).addObserver(settled),
    heard: { told: () => undefined, lost: () => undefined }
  })
  return { media, remotes, log }
}

const here = Effect.succeed({ address: "192.0.2.1", port: 40_000 })

const opened = () => {
  const all = make(here)
  all.media.open("192.0.2.2", () => undefined)
  return all
}

const originOf = (body: Result.Result<{ readonly bytes: Uint8Array }, string>): string =>
  new TextDecoder().decode(Result.getOrThrow(body).bytes).split("\r\n")[1] ?? ""

describe("the media of a leg", () => {
  it("counts its descriptions up only where they differ (RFC 3264 section 8)", () => {
    const { media } = opened()
    const origins = [
      media.answer(Rig.sdp()),
      media.answer(Rig.sdp(30_002)),
      media.answer(Rig.sdp(30_002, "a=sendonly")),
      media.answer(Rig.sdp())
    ].map(originOf)
    expect(origins).toEqual([1, 1, 2, 3].map((version) => `o=- 7 ${version} IN IP4 192.0.2.1`))
  })

  it("keeps pointing at a peer that holds by an empty address", () => {
    const { media, remotes } = opened()
    media.answer(Rig.sdp())
    const held = new TextDecoder().decode(Rig.sdp()).replace("c=IN IP4 192.0.2.2", "c=IN IP4 0.0.0.0")
    media.answer(new TextEncoder().encode(held))
    expect(remotes).toMatchObject([
      { address: "192.0.2.2", port: 30_000, direction: "sendrecv" },
      { address: "192.0.2.2", port: 30_000, direction: "recvonly" }
    ])
  })

  it("tells the plane the hosts of the peer as sockets name them", () => {
    const { media, remotes } = make(here)
    media.open("2001:DB8::0:9", () => undefined)
    const sdp = new TextDecoder().decode(Rig.sdp()).replaceAll("IN IP4 192.0.2.2", "IN IP6 2001:DB8:0:0::8")
    media.answer(new TextEncoder().encode(sdp))
    expect(remotes).toMatchObject([{ address: "2001:db8::8", signallingAddress: "2001:db8::9" }])
  })

  it("has no agreement until its offer is answered", () => {
    const { media } = opened()
    expect(Result.isFailure(media.accept(Rig.sdp()))).toBe(true)
    media.offer()
    expect(media.agreed()).toBe(false)
    expect(Result.isSuccess(media.accept(Rig.sdp()))).toBe(true)
    expect(media.agreed()).toBe(true)
    expect(media.hasTelephoneEvents()).toBe(true)
  })

  it("sends with the payload types of the answer, and receives with those of its own offer", () => {
    const { media, remotes } = opened()
    media.offer()
    media.accept(Rig.sdp(30_000, "a=rtpmap:96 telephone-event/8000", "0 96"))
    expect(remotes).toMatchObject([{ audio: { send: 0, receive: 0 }, telephoneEvent: { send: 96, receive: 101 } }])
  })

  it.effect("gives back a place that it gets after it was closed", () =>
    Effect.gen(function* () {
      const place = yield* Deferred.make<{ readonly address: string; readonly port: number }>()
      const { log, media } = make(Deferred.await(place))
      let told = false
      media.open("192.0.2.2", () => {
        told = true
      })
      media.close()
      expect(log).toEqual([])
      yield* Deferred.succeed(place, { address: "192.0.2.1", port: 40_000 })
      yield* Effect.yieldNow
      expect(log).toEqual(["close"])
      expect(told).toBe(false)
    })
  )
})
