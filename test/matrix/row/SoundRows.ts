import { expect } from "vitest"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"

/** Playback, speech and digits on a leg: guide/calls.md#play, guide/calls.md#speak, guide/calls.md#send_dtmf. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "play is told as completed when it was heard as often as loop says",
    run: async (world) => {
      const { servers } = world.running()
      const { call } = await World.answered(world)
      const started = performance.now()
      await call.act("play", { url: servers.soundUrl("tone/200.wav"), loop: 3, target_legs: "self" })
      expect(await call.event("call.playback_ended")).toMatchObject({ status: "completed", reason: null })
      expect(performance.now() - started).toBeGreaterThan(550)
    }
  },
  {
    name: "playbacks stand in line; stop_playback current ends the first, and all ends the rest",
    run: async (world) => {
      const { servers } = world.running()
      const { call } = await World.answered(world)
      for (const ms of [9000, 8000, 7000]) await call.act("play", { url: servers.soundUrl(`tone/${ms}.wav`) })
      await call.act("stop_playback", { stop: "current" })
      expect(await call.event("call.playback_ended")).toMatchObject({ status: "stopped", reason: null })
      await call.act("stop_playback")
      expect(await call.event("call.playback_ended", 2)).toMatchObject({ status: "stopped" })
      expect(await call.event("call.playback_ended", 3)).toMatchObject({ status: "stopped" })
      await call.act("stop_playback", { stop: "all" })
    }
  },
  {
    name: "play in a bridged call is heard, and stopped",
    run: async (world) => {
      const { servers } = world.running()
      const [{ call }] = await World.bridged(world)
      await call.act("play", { url: servers.soundUrl("tone/9000.wav") })
      await call.act("stop_playback")
      expect(await call.event("call.playback_ended")).toMatchObject({ status: "stopped" })
    }
  },
  ...(["opposite", "both"] as const).map((target): Row => ({
    name: `play to ${target} of a bridged call is told to the call that asked, and to no other`,
    run: async (world) => {
      const { servers } = world.running()
      const [{ call }, { call: other }] = await World.bridged(world)
      await call.act("play", { url: servers.soundUrl("tone/200.wav"), target_legs: target })
      expect(await call.event("call.playback_ended")).toMatchObject({ status: "completed", reason: null })
      await call.act("play", { url: servers.soundUrl("tone/9000.wav"), target_legs: target })
      await call.act("stop_playback")
      expect(await call.event("call.playback_ended", 2)).toMatchObject({ status: "stopped", reason: null })
      expect(other.types()).not.toContain("call.playback_ended")
    }
  })),
  {
    name: "play to opposite or both is refused where there is no other leg",
    run: async (world) => {
      const { servers } = world.running()
      const { call } = await World.answered(world)
      for (const target of ["opposite", "both"])
        expect(await call.refused("play", { url: servers.soundUrl("tone/200.wav"), target_legs: target })).toBe(
          "409 call_not_in_required_state"
        )
    }
  },
  ...(
    [
      ["a file that is not there", "missing.wav", "http_404"],
      ["what is no sound", "garbage.wav", "unsupported_format"]
    ] as const
  ).map(([what, path, reason]): Row => ({
    name: `play of ${what} is told as failed with its reason, and the call goes on`,
    run: async (world) => {
      const { servers } = world.running()
      const { call } = await World.answered(world)
      await call.act("play", { url: servers.soundUrl(path) })
      expect(await call.event("call.playback_ended")).toMatchObject({ status: "failed", reason })
      expect((await call.find()).status).toBe("answered")
    }
  })),
  {
    name: "the end of the call ends what plays and what waits, told before call.ended",
    run: async (world) => {
      const { servers } = world.running()
      const { call } = await World.answered(world)
      await call.act("play", { url: servers.soundUrl("tone/9000.wav") })
      await call.act("speak", { payload: "This is never heard.", voice: "openai.alloy" })
      await call.act("hangup")
      expect((await call.over()).slice(-3)).toEqual(["call.playback_ended", "call.speak_ended", "call.ended"])
      expect(await call.event("call.playback_ended")).toMatchObject({ status: "stopped", reason: "call_ended" })
      expect(await call.event("call.speak_ended")).toMatchObject({ status: "stopped", reason: "call_ended" })
    }
  },
  {
    name: "speak says its text in the voice that was asked for, and is told as completed",
    run: async (world) => {
      const { call } = await World.answered(world)
      await call.act("speak", {
        payload: `Good day ${call.id.slice(-4)}.`,
        voice: "openai.nova",
        language: "en-US",
        payload_type: "text"
      })
      await world.running().servers.spoken.next("its text", (text) => text === `Good day ${call.id.slice(-4)}.`)
      expect(await call.event("call.speak_ended")).toMatchObject({ status: "completed", reason: null })
    }
  },
  {
    name: "speak by an engine that fails is told, and what waits behind it is heard",
    run: async (world) => {
      const { call } = await World.answered(world)
      await call.act("speak", { payload: `fail ${call.id}`, voice: "openai.alloy" })
      await call.act("speak", { payload: "and on", voice: "female" })
      expect(await call.event("call.speak_ended")).toMatchObject({ status: "failed", reason: "speech_failed" })
      expect(await call.event("call.speak_ended", 2)).toMatchObject({ status: "completed" })
    }
  },
  {
    name: "stop_playback stops speech, in a bridged call too",
    run: async (world) => {
      const [{ call }] = await World.bridged(world)
      await call.act("speak", { payload: "x".repeat(600), voice: "openai.alloy" })
      await call.act("stop_playback")
      expect(await call.event("call.speak_ended")).toMatchObject({ status: "stopped", reason: null })
    }
  },
  {
    name: "speak is refused for a voice that is not there, and for SSML where no engine takes it",
    run: async (world) => {
      const { call } = await World.answered(world)
      expect(await call.refused("speak", { payload: "hello", voice: "nobody.there" })).toBe("422 unprocessable")
      expect(await call.refused("speak", { payload: "<speak/>", voice: "openai.alloy", payload_type: "ssml" })).toBe(
        "422 unprocessable"
      )
    }
  },
  {
    name: "send_dtmf presses its digits to the far end, in order, answered and bridged",
    run: async (world) => {
      const [{ call, far }, single] = await Promise.all([
        World.bridged(world).then(([one]) => one),
        World.answered(world)
      ])
      await call.act("send_dtmf", { digits: "9", duration_millis: 100 })
      await single.call.act("send_dtmf", { digits: "1A*w#D", duration_millis: 100 })
      expect(await single.far.heardDigits(5)).toBe("1A*#D")
      expect(await far.heardDigits(1)).toBe("9")
    }
  },
  {
    name: "each digit that the far end presses is a call.dtmf",
    run: async (world) => {
      const { call, far } = await World.talking(world)
      await far.press("1#D")
      await call.event("call.dtmf", 3)
      expect(call.told().flatMap(({ data }) => (data["digit"] === undefined ? [] : [data["digit"]]))).toEqual([
        "1",
        "#",
        "D"
      ])
    }
  },
  {
    name: "audio_url is heard before the answer, and nothing of it is told",
    run: async (world) => {
      const { servers } = world.running()
      const { call } = await World.answered(world, { audio_url: servers.soundUrl("tone/500.wav") })
      expect(call.types()).not.toContain("call.playback_ended")
    }
  }
]
