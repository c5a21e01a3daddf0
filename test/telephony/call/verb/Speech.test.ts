import { describe, expect, it } from "@effect/vitest"
import type { Built } from "../../../../src/telephony/call/verb/CallVerbs.ts"
import * as CallSealing from "../../../../src/telephony/call/stored/CallSealing.ts"
import * as Media from "../../../media/support/MediaSample.ts"
import * as Sample from "../CallSample.ts"

const t0 = 1_000_000

const answeredCall = (): Sample.Scene => {
  const placed = Sample.start(Sample.place(), t0)
  return Sample.carrier(placed, { type: "answered", resume: null }, t0 + 1000)
}
const speakBody = { payload: "Your code is 4711.", voice: "female", language: "en-US" }
const gatherBody = { payload: "Your PIN, please.", voice: "female", invalid_payload: "Wrong.", maximum_digits: 4 }
const audioBody = { audio_url: "https://example.com/pin.wav" }

/** The events about sounds and gathers, in words. */
const told = (scene: Sample.Scene) =>
  Sample.events(scene).flatMap((event) => {
    if (event.type === "call.gather_complete") return [`gather ${event.data.status} ${event.data.digits}`.trim()]
    if (event.type === "call.speak_ended" || event.type === "call.playback_ended")
      return [`${event.type} ${event.data.status} ${event.data.reason ?? ""}`.trim()]
    return []
  })
const media = (scene: Sample.Scene) =>
  Sample.commands(scene).flatMap((command) => (command.type === "media" ? [command.media] : []))
const kinds = (scene: Sample.Scene) => media(scene).map(({ type }) => type)

describe("speech in a call", () => {
  it("is one command with its text, and ends once", () => {
    let scene = Sample.act(answeredCall(), "speak", speakBody, t0 + 2000)
    const id = Sample.lastWork(scene)
    const speech = { text: "Your code is 4711.", textType: "text", voice: "female", language: "en-US" }
    expect(Sample.lastMedia(scene)).toStrictEqual({ type: "speak", id, speech })
    scene = Sample.media(scene, Media.failed(id, "speech_timeout"), t0 + 3000)
    scene = Sample.media(scene, Media.completed(id), t0 + 3001)
    expect(Sample.last(scene)).toBe("unchanged")
    expect(told(scene)).toStrictEqual(["call.speak_ended failed speech_timeout"])
  })

  it("stands in one queue with what plays: in its bound, its stop and its end", () => {
    let scene = answeredCall()
    for (let n = 0; n < 16; n++) {
      scene = Sample.act(scene, "speak", speakBody, t0 + 2000)
      scene = Sample.act(scene, "play", { url: "https://example.com/a.wav" }, t0 + 2000)
    }
    expect(Sample.last(Sample.act(scene, "speak", speakBody, t0 + 2001))).toBe("conflict")
    expect(Sample.lastMedia(Sample.act(scene, "stop_playback", {}, t0 + 2001))).toStrictEqual(Media.stopPlayback)
    const over = told(Sample.act(scene, "hangup", {}, t0 + 3000))
    expect(over.filter((each) => each === "call.speak_ended stopped call_ended").length).toBe(16)
    expect(over.filter((each) => each === "call.playback_ended stopped call_ended").length).toBe(16)
  })

  it("is not kept in the clear, nor shown", () => {
    const scene = Sample.act(
      Sample.act(answeredCall(), "speak", speakBody, t0 + 2000),
      "gather_using_speak",
      gatherBody,
      t0
    )
    expect(JSON.stringify(scene.state)).toContain("4711")
    expect(JSON.stringify(CallSealing.maskState(scene.state))).not.toMatch(/4711|PIN, please|Wrong\./)
  })
})

describe("a gather with a prompt in a call", () => {
  const gathering = (verb: Built = "gather_using_speak", body: object = gatherBody) =>
    Sample.act(answeredCall(), verb, body, t0 + 2000)

  it("asks for its prompt, which cuts what plays and is cut by digits", () => {
    expect(Sample.lastMedia(gathering("gather_using_audio", audioBody))).toMatchObject({
      type: "prompt",
      sound: { type: "url", url: "https://example.com/pin.wav" },
      stoppedBy: "0123456789*#"
    })
    const { state } = gathering()
    expect(state.work.map(({ type }) => type)).toStrictEqual(["gather"])
  })

  it("takes the first digit while the prompt is heard, and its late end changes nothing", () => {
    let scene = gathering()
    const prompt = Sample.lastWork(scene)
    scene = Sample.dtmf(scene, "1", t0 + 2500)
    expect(Sample.lastMedia(scene)).toStrictEqual({ type: "stop_prompt", promptId: prompt })
    scene = Sample.media(scene, Media.stopped(prompt), t0 + 2501)
    expect(Sample.last(scene)).toBe("unchanged")
    for (const digit of "234") scene = Sample.dtmf(scene, digit, t0 + 2600)
    expect(told(scene)).toStrictEqual(["gather valid 1234"])
  })

  it("goes through its tries, each prompt with an id of its own, and is complete once", () => {
    let scene = gathering()
    const prompts = new Set<string>()
    for (let turn = 0; turn < 3; turn++) {
      prompts.add(Sample.lastWork(scene))
      scene = Sample.media(scene, Media.completed(Sample.lastWork(scene)), scene.state.at + 1000)
      scene = Sample.wait(scene)
    }
    expect(prompts.size).toBe(3)
    expect(kinds(scene)).toStrictEqual(["prompt", "prompt", "prompt"])
    expect(told(scene)).toStrictEqual(["gather timeout"])
  })

  it("tells of a prompt that cannot be played, and goes on without it", () => {
    let scene = gathering("gather_using_audio", audioBody)
    scene = Sample.media(scene, Media.failed(Sample.lastWork(scene), "http_404"), t0 + 2100)
    for (const digit of "12#") scene = Sample.dtmf(scene, digit, t0 + 2500)
    expect(told(scene)).toStrictEqual(["call.playback_ended failed http_404", "gather valid 12"])
  })

  it("goes on when the carrier could not take the prompt", () => {
    let scene = gathering()
    const command = Sample.commands(scene).findLast(({ type }) => type === "media")
    if (command === undefined) throw new Error("a prompt was asked for")
    scene = Sample.carrier(
      scene,
      { type: "command_failed", commandId: command.commandId, reason: "unknown_leg" },
      t0 + 2100
    )
    expect(told(scene)).toStrictEqual(["call.speak_ended failed unknown_leg"])
    for (let turn = 0; turn < 3; turn++) scene = Sample.wait(scene)
    expect(told(scene).at(-1)).not.toBe("gather running")
    expect(scene.state.work.length).toBe(1)
  })

  it("is cancelled with its prompt, in each phase", () => {
    const prompting = gathering()
    const prompt = Sample.lastWork(prompting)
    const cancelled = Sample.act(prompting, "stop_gather", {}, t0 + 2100)
    expect(told(cancelled)).toStrictEqual(["gather cancelled"])
    expect(Sample.lastMedia(cancelled)).toStrictEqual({ type: "stop_prompt", promptId: prompt })
    const listening = Sample.media(prompting, Media.completed(prompt), t0 + 2200)
    const later = Sample.act(Sample.dtmf(listening, "1", t0 + 2300), "stop_gather", {}, t0 + 2400)
    expect(told(later)).toStrictEqual(["gather cancelled 1"])
    expect(Sample.lastMedia(later).type).toBe("prompt")
    expect(Sample.last(Sample.act(later, "stop_gather", {}, t0 + 2500))).toBe("call_not_in_required_state")
  })

  it("is closed before the call's end, in each phase", () => {
    const prompting = gathering()
    const listening = Sample.media(prompting, Media.completed(Sample.lastWork(prompting)), t0 + 2200)
    for (const scene of [prompting, listening]) {
      const over = Sample.wait(Sample.act(scene, "hangup", {}, t0 + 3000))
      expect(told(over)).toStrictEqual(["gather call_ended"])
      expect(Sample.types(over).at(-1)).toBe("call.ended")
    }
  })

  it("is a conflict with another gather, whatever their kinds", () => {
    const bodies: ReadonlyArray<readonly [Built, object]> = [
      ["gather", {}],
      ["gather_using_speak", gatherBody],
      ["gather_using_audio", audioBody]
    ]
    for (const [first, body] of bodies)
      for (const [second, other] of bodies)
        expect(Sample.last(Sample.act(gathering(first, body), second, other, t0 + 2100))).toBe("conflict")
  })

  it("listens after a restart, with its timers from then on, and is asked again where its leg may not have heard", () => {
    const prompting = gathering()
    const elsewhere = Sample.send(prompting, Sample.recovered(prompting, "elsewhere", t0 + 2500), t0 + 4000)
    expect(kinds(elsewhere).slice(0, 2)).toStrictEqual(["prompt", "stop_playback"])
    expect(told(Sample.wait(elsewhere))).toStrictEqual([])
    expect(Sample.wait(elsewhere).state.at).toBe(t0 + 9000)
    const alive = Sample.send(prompting, Sample.recovered(prompting, "alive", t0 + 2500), t0 + 4000)
    expect(media(alive)[1]).toStrictEqual(media(alive)[0])
  })
})
