import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { MediaCommand } from "../../../../src/ports/media/MediaMessage.ts"
import * as Ids from "../../../support/Ids.ts"
import * as Rig from "../Rig.ts"

const audioUrl = "https://sounds.test/ring-back.wav"

const dialled = Effect.fnUntraced(function* (label: string) {
  const rig = yield* Rig.make(label)
  yield* rig.command({ ...Rig.dial, audioUrl })
  return { rig, invite: Rig.requestOf(rig.sent(), "INVITE") }
})

/** The commands to the media as text. */
const media = (rig: Rig.Rig) =>
  rig.media.flatMap(([what, , detail]) => {
    if (what === "connect") return [`connect ${(detail as { port: number }).port}`]
    return what === "command" ? [(detail as { type: string }).type] : []
  })

describe("A sound before the answer", () => {
  it.effect("begins with the first description of the callee, and ends with the answer", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled("early")
      yield* rig.deliver(Rig.reply(invite, 180))
      expect(media(rig)).toStrictEqual([])
      yield* rig.deliver(Rig.reply(invite, 183, { body: Rig.sdpBody(30_000) }))
      expect(media(rig)).toStrictEqual(["connect 30000", "play"])
      expect(rig.media.at(-1)?.[2]).toMatchObject({ type: "play", url: audioUrl, loop: 100 })
      yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody(30_000) }))
      expect(media(rig).slice(2)).toContain("stop_playback")
      expect(Rig.words(rig.told())).toStrictEqual(["ringing", "early_media", "answered"])
      const before = media(rig).length
      yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody(30_000) }))
      expect(media(rig)).toHaveLength(before)
    })
  )

  it.effect("goes to the branch that rang last, and the answer decides", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled("forked")
      yield* rig.deliver(Rig.reply(invite, 183, { toTag: "one", body: Rig.sdpBody(30_000) }))
      yield* rig.deliver(Rig.reply(invite, 183, { toTag: "two", body: Rig.sdpBody(31_000) }))
      yield* rig.deliver(Rig.reply(invite, 200, { toTag: "one" }))
      expect(media(rig)).toStrictEqual(["connect 30000", "play", "connect 31000", "connect 30000", "stop_playback"])
    })
  )

  it.effect("with a 180 is heard, too", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled("ringing")
      yield* rig.deliver(Rig.reply(invite, 180, { body: Rig.sdpBody(30_000) }))
      expect(media(rig)).toStrictEqual(["connect 30000", "play"])
    })
  )

  it.effect("is not sent to a callee that does not listen, nor at its answer", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled("deaf")
      yield* rig.deliver(Rig.reply(invite, 183, { body: Rig.sdpBody(30_000, "a=sendonly") }))
      yield* rig.deliver(Rig.reply(invite, 200, { body: Rig.sdpBody(30_000) }))
      expect(media(rig).filter((what) => !what.startsWith("connect"))).toStrictEqual([])
      const late = yield* dialled("late")
      yield* late.rig.deliver(Rig.reply(late.invite, 200, { body: Rig.sdpBody(30_000) }))
      expect(media(late.rig)).toStrictEqual(["connect 30000"])
    })
  )

  it.effect("is nothing that its call hears of", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialled("quiet")
      yield* rig.deliver(Rig.reply(invite, 183, { body: Rig.sdpBody(30_000) }))
      rig.told()
      const played = rig.media.at(-1)?.[2] as Extract<MediaCommand, { readonly type: "play" }>
      rig.hear(Rig.of.legId, { type: "ended", id: played.id, status: "failed", reason: "http_404" })
      rig.hear(Rig.of.legId, { type: "ended", id: Ids.work("other"), status: "completed", reason: null })
      yield* Effect.yieldNow
      expect(Rig.words(rig.told())).toStrictEqual(["other completed -"])
    })
  )
})

describe("What a callee says before its answer", () => {
  const dialledFor = Effect.fnUntraced(function* (label: string, more: { readonly audioUrl?: string } = {}) {
    const rig = yield* Rig.make(label)
    yield* rig.command({ ...Rig.dial, detectsMachine: true, ...more })
    return { rig, invite: Rig.requestOf(rig.sent(), "INVITE") }
  })

  it.effect("is listened to from its first description on, once, where a machine is to be detected", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialledFor("listens")
      yield* rig.deliver(Rig.reply(invite, 180))
      expect(media(rig)).toStrictEqual([])
      yield* rig.deliver(Rig.reply(invite, 183, { toTag: "one", body: Rig.sdpBody(30_000) }))
      yield* rig.deliver(Rig.reply(invite, 183, { toTag: "two", body: Rig.sdpBody(31_000) }))
      yield* rig.deliver(Rig.reply(invite, 200, { toTag: "two" }))
      expect(media(rig)).toStrictEqual(["connect 30000", "listen_early", "connect 31000"])
    })
  )

  it.effect("is heard of one that does not listen, which is played nothing; with the answer it is too late", () =>
    Effect.gen(function* () {
      const { invite, rig } = yield* dialledFor("deaf listens", { audioUrl })
      yield* rig.deliver(Rig.reply(invite, 183, { body: Rig.sdpBody(30_000, "a=sendonly") }))
      expect(media(rig)).toStrictEqual(["connect 30000", "listen_early"])
      const late = yield* dialledFor("late listens")
      yield* late.rig.deliver(Rig.reply(late.invite, 200, { body: Rig.sdpBody(30_000) }))
      expect(media(late.rig)).toStrictEqual(["connect 30000"])
    })
  )
})

describe("Recording of a leg that rings", () => {
  it.effect("is handed to its media, which other work has to wait for", () =>
    Effect.gen(function* () {
      const rig = yield* Rig.make("record")
      yield* rig.command(Rig.dial)
      const command = { ...Rig.of, type: "media", tenantId: Ids.tenant("t") } as const
      const start = {
        type: "start_recording",
        id: Ids.work("rec"),
        callId: Rig.of.callId,
        channels: "dual",
        format: "wav",
        maxLengthMs: null,
        hasBeep: false,
        beepEveryMs: null
      } as const
      yield* rig.command({ ...command, commandId: Ids.command("rec"), media: start })
      yield* rig.command({
        ...command,
        commandId: Ids.command("stop"),
        media: { type: "stop_playback", which: "all" }
      })
      expect(media(rig)).toStrictEqual(["start_recording"])
      expect(Rig.words(rig.told())).toStrictEqual(["command_failed stop not_answered"])
    })
  )
})
