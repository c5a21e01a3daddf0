/** The To tag of a CANCEL and of its answer, RFC 3261 sections 9.1 and 9.2. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Dialog from "../../../../src/protocol/sip/dialog/Dialog.ts"
import * as DialogResume from "../../../../src/protocol/sip/dialog/DialogResume.ts"
import * as MessageKey from "../../../../src/protocol/sip/message/MessageKey.ts"
import * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import { header, type SipRequest } from "../../../../src/protocol/sip/message/SipMessage.ts"
import * as Ids from "../../../support/Ids.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"
import * as Rig from "../Rig.ts"

const invite: SipRequest = Rig.invite()

/** The tags of all messages sent for the INVITE and its CANCEL, except the 100. */
const tags = (sent: ReturnType<Rig.Rig["sent"]>) =>
  sent.flatMap(({ message }) => (Rig.name(message) === "100" ? [] : (MessageKey.toTag(message) ?? "none")))

const command = (rig: Rig.Rig, type: "ring" | "answer") =>
  rig.command({ ...Rig.ofOffered(rig), commandId: Ids.command(type), type })

describe("the 200 to a CANCEL", () => {
  it.effect("has the To tag of the 180 before it and of the 487 behind it", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.deliver(invite)
      yield* command(rig, "ring")
      yield* rig.deliver(Requests.cancel(invite))
      const sent = rig.sent()
      expect(Rig.names(sent)).toEqual(["100", "180", "200", "487"])
      expect(new Set(tags(sent)).size).toBe(1)
    })
  )

  it.effect("has the tag of the 487 where nothing with a tag went before", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.deliver(invite)
      yield* rig.deliver(Requests.cancel(invite))
      const sent = rig.sent()
      expect(Rig.names(sent)).toEqual(["100", "200", "487"])
      expect(new Set(tags(sent)).size).toBe(1)
    })
  )

  it.effect("that comes too late has the tag of the answer", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.deliver(invite)
      yield* command(rig, "answer")
      const answer = Rig.responseOf(rig.sent(), 200)
      const dialog = Dialog.fromResponse(invite, answer)
      if (dialog === null) expect.fail("no dialog")
      yield* rig.deliver(Dialog.acknowledge(dialog, invite, { sentBy: "192.0.2.2:5062", branch: "z9hG4bKack" }).request)
      yield* rig.deliver(Requests.cancel(invite))
      expect(tags(rig.sent())).toEqual([MessageKey.toTag(answer)])
    })
  )

  it.effect("of a call that is refused at once has the tag of the refusal", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.drain
      yield* rig.deliver(invite)
      yield* rig.deliver(Requests.cancel(invite))
      const sent = rig.sent()
      expect(Rig.names(sent)).toEqual(["503", "200"])
      expect(new Set(tags(sent)).size).toBe(1)
    })
  )

  it.effect("has, after a restart, the tag that the process before had told", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      const resume = JSON.parse(JSON.stringify(DialogResume.ringing(invite, "before", SipSample.flow(Rig.peer))))
      yield* rig.command({ ...Rig.of, commandId: Ids.command("h"), type: "hangup", origin: null, resume })
      yield* rig.deliver(Requests.cancel(invite))
      expect(tags(rig.sent())).toEqual(["before", "before"])
    })
  )
})

describe("our CANCEL", () => {
  it.effect("has the To of the INVITE, without the tag of a provisional response", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make()
      yield* rig.command(Rig.dial)
      const ours = Rig.requestOf(rig.sent(), "INVITE")
      yield* rig.deliver(Rig.reply(ours, 180, { toTag: "ringing" }))
      yield* rig.command(Rig.hangup)
      const cancel = Rig.requestOf(rig.sent(), "CANCEL")
      expect(header(cancel, "To")).toBe(header(ours, "To"))
      expect(MessageKey.toTag(cancel)).toBeNull()
    })
  )

  it("of a re-INVITE has the tag that the re-INVITE had, and no other", () => {
    const again = SipSample.request("INVITE", { to: "<sip:bob@192.0.2.2>;tag=bob" })
    expect(MessageKey.toTag(Requests.cancel(again))).toBe("bob")
  })
})
