import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ConferenceState, Member } from "../../../../src/telephony/conference/machine/ConferenceState.ts"
import * as SpeakingEvents from "../../../../src/telephony/conference/shell/SpeakingEvents.ts"
import * as Id from "../../../../src/domain/Id.ts"
import * as Ids from "../../../support/Ids.ts"

const memberId = Ids.member("ada")

const member: Member = {
  id: memberId,
  callId: Ids.call("call of ada"),
  legId: Ids.leg("leg of ada"),
  role: "participant",
  phase: "joined",
  createdAt: 0,
  joinedAt: 0,
  leftAt: null,
  isMuted: false,
  isHeld: false,
  isSpeaking: false,
  endOnExit: null,
  softEndOnExit: false,
  beepEnabled: null,
  told: null
}

const room = (fields: Partial<Member> = {}, status: ConferenceState["status"] = "in_progress") =>
  ({
    status,
    id: Id.derive("room", "conf"),
    tenantId: Ids.tenant("6f1b0a52-6c0e-4d4e-9a57-0d7a3f3f6c11"),
    members: [{ ...member, ...fields }]
  }) as unknown as ConferenceState

const speech = (state: ConferenceState, isSpeaking: boolean) => ({
  type: "member_speaking" as const,
  conferenceId: state.id,
  at: 0,
  incarnation: "first",
  n: 1,
  memberId,
  isSpeaking
})

describe("who speaks", () => {
  it.effect("whoever speaks is shown until it stops, and then nothing is kept of its room", () =>
    Effect.gen(function* () {
      const speaking = yield* SpeakingEvents.make(() => Effect.succeed(false))
      const state = room()
      speaking.heard(state, speech(state, true))
      expect(speaking.of(state.id)).toEqual([memberId])
      speaking.heard(state, speech(state, false))
      expect(speaking.of(state.id)).toEqual([])
      expect(speaking.size()).toBe(0)
    })
  )

  it.effect("nothing is kept of a room whose members have left, though speech is told behind that", () =>
    Effect.gen(function* () {
      const speaking = yield* SpeakingEvents.make(() => Effect.succeed(false))
      speaking.heard(room(), speech(room(), true))
      const over = room({ phase: "left" })
      speaking.follow(over)
      expect(speaking.size()).toBe(0)
      speaking.heard(over, speech(over, true))
      expect(speaking.isSpeaking(over.id, memberId)).toBe(false)
      expect(speaking.size()).toBe(0)
    })
  )

  it.effect("whoever is muted or held meanwhile does not speak", () =>
    Effect.gen(function* () {
      const speaking = yield* SpeakingEvents.make(() => Effect.succeed(false))
      for (const fields of [{ isMuted: true }, { isHeld: true }]) {
        speaking.heard(room(), speech(room(), true))
        speaking.follow(room(fields))
        expect(speaking.of(room().id)).toEqual([])
        expect(speaking.size()).toBe(0)
      }
    })
  )

  it.effect("what a tenant wants is asked once while it has a room, and forgotten with its last one", () =>
    Effect.gen(function* () {
      let asked = 0
      const speaking = yield* SpeakingEvents.make(() => Effect.sync(() => ++asked > 0))
      const other = { ...room(), id: Id.derive("other room", "conf") }
      for (const state of [room(), other, room()]) speaking.follow(state)
      expect(yield* speaking.heard(room(), speech(room(), true))).toBe(true)
      expect([asked, speaking.tenants()]).toEqual([1, 1])
      speaking.follow(room({ phase: "left" }, "completed"))
      expect(speaking.tenants()).toBe(1)
      speaking.follow({ ...other, status: "completed" })
      expect(speaking.tenants()).toBe(0)
      // An event after the end leaves no entry either.
      const over = room({ phase: "left" }, "completed")
      yield* speaking.heard(over, speech(over, true))
      expect([speaking.tenants(), speaking.size()]).toEqual([0, 0])
    })
  )

  it.effect("rooms of another process are forgotten with their tenants", () =>
    Effect.gen(function* () {
      const speaking = yield* SpeakingEvents.make(() => Effect.succeed(true))
      speaking.follow(room())
      yield* speaking.heard(room(), speech(room(), true))
      speaking.retain(() => false)
      expect([speaking.tenants(), speaking.size()]).toEqual([0, 0])
    })
  )
})
