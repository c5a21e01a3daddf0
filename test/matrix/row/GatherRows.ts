import { expect } from "vitest"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"

const short = { initial_timeout_millis: 300, inter_digit_timeout_millis: 300 }
const voice = "openai.alloy"
/** Forty seconds of speech: longer than any wait for an event here. */
const long = "y".repeat(2000)

/** Digit collection: guide/calls.md#gather, guide/calls.md#gathers-with-a-prompt. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "gather is valid at the terminating digit, and each digit is told before",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      await call.act("gather")
      expect(await call.refused("gather")).toBe("409 conflict")
      expect(await call.refused("gather_using_speak", { payload: "hello", voice })).toBe("409 conflict")
      await far.press("123#")
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "valid", digits: "123" })
      expect(call.types().slice(-5)).toEqual([...Array.from({ length: 4 }, () => "call.dtmf"), "call.gather_complete"])
    }
  },
  {
    name: "gather is valid at maximum_digits, of valid_digits only, in a bridged call",
    run: async (world) => {
      const [{ call, far }] = await World.bridged(world)
      await call.act("gather", {
        minimum_digits: 2,
        maximum_digits: 2,
        terminating_digit: "",
        valid_digits: "12",
        timeout_millis: 20_000,
        inter_digit_timeout_millis: 10_000,
        initial_timeout_millis: 10_000
      })
      await far.press("3142")
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "valid", digits: "12" })
    }
  },
  {
    name: "gather is invalid at the terminating digit with too few digits",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      await call.act("gather", { minimum_digits: 3 })
      await far.press("1#")
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "invalid", digits: "1" })
    }
  },
  {
    name: "gather times out when no digit comes",
    run: async (world) => {
      const { call } = await World.answered(world)
      await call.act("gather", { initial_timeout_millis: 200 })
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "timeout", digits: "" })
    }
  },
  {
    name: "gather ends when the next digit does not come: with enough digits it is valid",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      await call.act("gather", { inter_digit_timeout_millis: 400 })
      await far.press("4")
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "valid", digits: "4" })
    }
  },
  {
    name: "gather ends when the whole takes too long",
    run: async (world) => {
      const { call } = await World.answered(world)
      await call.act("gather", { timeout_millis: 1000, initial_timeout_millis: 10_000 })
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "timeout", digits: "" })
    }
  },
  {
    name: "stop_gather cancels it with the digits so far, answered and bridged; without one it is refused",
    run: async (world) => {
      const [{ call, far }, [bridged]] = await Promise.all([World.answered(world), World.bridged(world)])
      expect(await call.refused("stop_gather")).toBe("409 call_not_in_required_state")
      await call.act("gather")
      await far.press("7")
      await call.event("call.dtmf")
      await call.act("stop_gather")
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "cancelled", digits: "7" })
      await bridged.call.act("gather")
      await bridged.call.act("stop_gather")
      expect(await bridged.call.event("call.gather_complete")).toMatchObject({ status: "cancelled", digits: "" })
    }
  },
  {
    name: "the end of the call ends a gather, told before call.ended",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      await call.act("gather")
      await far.hangUp()
      await call.event("call.ended")
      expect((await call.over()).slice(-2)).toEqual(["call.gather_complete", "call.ended"])
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "call_ended" })
    }
  },
  {
    name: "the first digit cuts the prompt of gather_using_speak off, and counts",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      await call.act("gather_using_speak", {
        payload: long,
        voice,
        language: "en-US",
        payload_type: "text",
        invalid_payload: "That is not right.",
        maximum_tries: 1,
        minimum_digits: 1,
        maximum_digits: 1,
        terminating_digit: "#",
        valid_digits: "0123456789",
        timeout_millis: 20_000,
        inter_digit_timeout_millis: 5000,
        initial_timeout_millis: 5000
      })
      await far.press("8")
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "valid", digits: "8" })
      expect(call.types()).not.toContain("call.speak_ended")
    }
  },
  {
    name: "a silent caller hears the prompt of gather_using_speak again, and no invalid one; then it times out",
    run: async (world) => {
      const { call } = await World.answered(world)
      const prompt = `again ${call.id.slice(-6)}`
      const { spoken } = world.running().servers
      const invalid = `invalid ${call.id.slice(-6)}`
      await call.act("gather_using_speak", {
        payload: prompt,
        voice,
        invalid_payload: invalid,
        maximum_tries: 2,
        ...short
      })
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "timeout", digits: "" })
      expect(spoken.all).not.toContain(invalid)
    }
  },
  {
    name: "digits that are wrong are told by the invalid prompt, then the prompt comes again",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      const { spoken } = world.running().servers
      const invalid = `wrong ${call.id.slice(-6)}`
      await call.act("gather_using_speak", {
        payload: "z",
        voice,
        invalid_payload: invalid,
        maximum_tries: 2,
        minimum_digits: 2,
        initial_timeout_millis: 10_000
      })
      await far.press("1#")
      await spoken.next("the invalid prompt", (text) => text === invalid)
      await call.event("call.dtmf", 2)
      await far.press("12#")
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "valid", digits: "12" })
    }
  },
  {
    name: "gather_using_audio plays its prompt and its invalid one, in a bridged call; after the last try it is invalid",
    run: async (world) => {
      const { servers } = world.running()
      const [{ call, far }] = await World.bridged(world)
      await call.act("gather_using_audio", {
        audio_url: servers.soundUrl("tone/100.wav"),
        invalid_audio_url: servers.soundUrl("tone/200.wav"),
        maximum_tries: 1,
        minimum_digits: 2,
        maximum_digits: 3,
        terminating_digit: "*",
        valid_digits: "123",
        timeout_millis: 20_000,
        inter_digit_timeout_millis: 5000,
        initial_timeout_millis: 10_000
      })
      await far.press("1*")
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "invalid", digits: "1" })
    }
  },
  {
    name: "gather_using_speak in a bridged call is stopped with its prompt by stop_gather",
    run: async (world) => {
      const [{ call }] = await World.bridged(world)
      await call.act("gather_using_speak", { payload: long, voice })
      await call.act("stop_gather")
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "cancelled", digits: "" })
    }
  },
  {
    name: "stop_playback ends the prompt and not the gather",
    run: async (world) => {
      const { servers } = world.running()
      const { call, far } = await World.answered(world)
      await call.act("gather_using_audio", {
        audio_url: servers.soundUrl("tone/30000.wav"),
        maximum_digits: 1,
        initial_timeout_millis: 20_000
      })
      await call.act("stop_playback")
      await far.press("2")
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "valid", digits: "2" })
    }
  },
  {
    name: "a prompt that cannot be played is told, and the gather goes on",
    run: async (world) => {
      const { servers } = world.running()
      const { call, far } = await World.answered(world)
      await call.act("gather_using_audio", {
        audio_url: servers.soundUrl("missing.wav"),
        maximum_digits: 1,
        initial_timeout_millis: 20_000
      })
      expect(await call.event("call.playback_ended")).toMatchObject({ status: "failed", reason: "http_404" })
      await far.press("3")
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "valid", digits: "3" })
    }
  },
  {
    name: "a gather with a prompt cuts off what plays",
    run: async (world) => {
      const { servers } = world.running()
      const { call, far } = await World.answered(world)
      await call.act("play", { url: servers.soundUrl("tone/20000.wav") })
      await call.act("gather_using_speak", {
        payload: "press",
        voice,
        maximum_digits: 1,
        initial_timeout_millis: 20_000
      })
      expect(await call.event("call.playback_ended")).toMatchObject({ status: "stopped" })
      await far.press("6")
      expect(await call.event("call.gather_complete")).toMatchObject({ status: "valid", digits: "6" })
    }
  }
]
