import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dialog from "../../../../src/protocol/sip/dialog/Dialog.ts"
import * as Rig from "../Rig.ts"

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** The audio stream of a description with these lines after its `m=` line. */
const body = (formats: string, ...lines: ReadonlyArray<string>) => {
  const [before = "", ...rest] = text(Rig.sdp(30_000, "a=sendrecv", formats)).split(
    "a=rtpmap:101 telephone-event/8000\r\n"
  )
  return {
    type: "application/sdp",
    bytes: new TextEncoder().encode(before + lines.map((line) => `${line}\r\n`).join("") + rest.join(""))
  }
}

const dialled = Effect.gen(function* () {
  const rig = yield* Rig.make("wide codecs", undefined, undefined, ["OPUS", "L16", "G722", "PCMU"])
  yield* rig.command(Rig.dial)
  return { rig, invite: Rig.requestOf(rig.sent(), "INVITE") }
})

describe("Codecs of a leg", () => {
  it.effect("are offered in the operator's order, each under a payload type, with events at each clock rate", () =>
    Effect.gen(function* () {
      const { invite } = yield* dialled
      const offer = text(invite.body)
      expect(offer).toMatch(/m=audio \d+ RTP\/AVP 96 97 9 0 101 98 99\r\n/)
      for (const line of ["96 opus/48000/2", "97 L16/16000", "9 G722/8000", "0 PCMU/8000"])
        expect(offer).toContain(`a=rtpmap:${line}\r\n`)
      for (const rate of [48_000, 16_000, 8_000])
        expect(offer).toMatch(new RegExp(`a=rtpmap:\\d+ telephone-event/${rate}`))
    })
  )

  it.effect("go out under the answer's payload types and come in under ours, with what the peer asks for", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled
      const answer = body(
        "111 110",
        "a=rtpmap:111 opus/48000/2",
        "a=fmtp:111 useinbandfec=1",
        "a=rtpmap:110 telephone-event/48000"
      )
      yield* rig.deliver(Rig.reply(invite, 200, { body: answer }))
      expect(rig.connections()).toMatchObject([
        {
          codec: "OPUS",
          audio: { send: 111, receive: 96 },
          fmtp: "useinbandfec=1",
          telephoneEvent: { send: 110, receive: 101, clockRate: 48_000 }
        }
      ])
    })
  )

  it.effect("change with a re-INVITE of the peer, and stay where its offer cannot be used", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled
      const contact = "<sip:bob@192.0.2.2:5062>"
      const dialog = Dialog.fromRequest(invite, { localTag: "bob", contact, cseq: 6 })
      if (dialog === null) return expect.fail("no dialog")
      yield* rig.deliver(Rig.reply(invite, 200, { body: body("0", "a=rtpmap:0 PCMU/8000") }))
      rig.sent()
      const hop = (branch: string) => ({ sentBy: "192.0.2.2:5062", branch: `z9hG4bK${branch}` })
      const wide = body("120 9", "a=rtpmap:120 L16/16000", "a=rtpmap:9 G722/8000")
      const changed = Dialog.request(dialog, "INVITE", hop("wide"), { body: wide })
      yield* rig.deliver(changed.request)
      const accepted = text(Rig.responseOf(rig.sent(), 200).body)
      expect(accepted).toMatch(/m=audio \d+ RTP\/AVP 120\r\na=rtpmap:120 L16\/16000/)
      expect(rig.connections().at(-1)).toMatchObject({ codec: "L16", audio: { send: 120, receive: 120 } })
      yield* rig.deliver(Dialog.acknowledge(changed.dialog, changed.request, hop("ack")).request)
      const before = rig.connections().length
      const unusable = body("18", "a=rtpmap:18 G729/8000")
      yield* rig.deliver(Dialog.request(changed.dialog, "INVITE", hop("narrow"), { body: unusable }).request)
      expect(Rig.names(rig.sent())).toEqual(["488"])
      expect(rig.connections()).toHaveLength(before)
      expect(yield* rig.presence(Rig.of.legId)).toBe("alive")
    })
  )
})
