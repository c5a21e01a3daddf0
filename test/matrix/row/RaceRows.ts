import { randomUUID } from "node:crypto"
import { expect } from "vitest"
import * as TestServer from "../../edge/http/TestServer.ts"
import type { Call } from "../Call.ts"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"

/** The answers to two concurrent requests, in any order. */
const atOnce = async (
  world: World.World,
  call: Call,
  ...requests: ReadonlyArray<readonly [verb: string, body?: object]>
): Promise<ReadonlyArray<string>> => {
  const answers = await Promise.all(
    requests.map(([verb, body]) => world.tenant.ask("POST", `${call.path}/actions/${verb}`, body))
  )
  return answers
    .map((answer) => (answer.status === 200 ? "200" : `${answer.status} ${String(TestServer.codeOf(answer))}`))
    .toSorted()
}

const count = (types: ReadonlyArray<string>, type: string): number => types.filter((each) => each === type).length

const voice = "openai.alloy"

/** Verbs of which only one at a time may run: of two concurrent ones, one is refused. */
const oneAtATime = (world: World.World, call: Call) => {
  const { servers } = world.running()
  const stream = { stream_url: servers.streamUrl(call.id) }
  return [
    { request: ["gather"], refusal: "409 conflict" },
    { request: ["start_recording"], refusal: "409 conflict" },
    { request: ["streaming_start", stream], refusal: "409 streaming_already_active" },
    { request: ["transcription_start"], refusal: "409 transcription_already_active" },
    { request: ["transfer", { to: "+12025550102" }], refusal: "409 conflict" }
  ] as const
}

/** Concurrent actions of requests, carriers and far ends: each thing happens once, and is reported once. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "answer and reject at once: one of them wins, and the other is refused",
    run: async (world) => {
      const { call } = await World.offered(world)
      const [won, lost] = await atOnce(world, call, ["answer"], ["reject", { cause: "rejected" }])
      expect(won).toBe("200")
      expect(["409 call_already_ended", "409 call_not_in_required_state"]).toContain(lost)
      if (lost === "409 call_already_ended") expect((await call.find()).status).toBe("failed")
      else await call.event("call.answered")
    }
  },
  {
    name: "two hangups at once: one ends the call, which is told once",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      expect(await atOnce(world, call, ["hangup"], ["hangup"])).toEqual(["200", "409 call_already_ended"])
      await far.gone()
    }
  },
  {
    name: "two of one kind of work at once: the second is refused",
    run: async (world) => {
      const { call } = await World.answered(world)
      for (const { refusal, request } of oneAtATime(world, call))
        expect([request[0], await atOnce(world, call, request, request)]).toEqual([request[0], ["200", refusal]])
    }
  },
  {
    name: "the end of the call ends everything that goes on, each once and before call.ended but what is still stored",
    run: async (world) => {
      const { servers } = world.running()
      const { call, far } = await World.answered(world)
      await call.act("play", { url: servers.soundUrl("tone/500.wav") })
      await call.act("start_recording")
      await call.event("call.playback_ended")
      await call.act("play", { url: servers.soundUrl("tone/20000.wav") })
      await call.act("speak", { payload: "never heard", voice })
      await call.act("gather")
      await call.act("streaming_start", { stream_url: servers.streamUrl(call.id) })
      await call.event("stream.started")
      await call.act("transcription_start")
      await call.act("transfer", { to: "+12025550102" })
      await far.hangUp()
      await call.event("call.ended")
      await call.event("recording.completed")
      const types = call.types()
      const before = types.slice(0, types.indexOf("call.ended"))
      for (const type of ["call.speak_ended", "call.gather_complete", "stream.stopped", "call.transfer_failed"])
        expect([type, count(before, type), count(types, type)]).toEqual([type, 1, 1])
      expect([count(before, "call.playback_ended"), count(types, "call.playback_ended")]).toEqual([2, 2])
      expect(count(types, "recording.completed")).toBe(1)
    }
  },
  {
    name: "both sides hang up at once: the call has ended once",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      await Promise.all([far.hangUp().catch(() => undefined), atOnce(world, call, ["hangup"])])
      await call.event("call.ended")
      expect(["api", "callee"]).toContain((await call.find()).end_initiator)
    }
  },
  {
    name: "the far end answers while we hang up: the call has ended, and the far end is let go",
    run: async (world) => {
      const { call, far } = await World.place(world)
      await call.event("call.ringing")
      await Promise.all([far.answer().catch(() => undefined), call.act("hangup")])
      await far.gone()
      expect(["cancelled", "normal_clearing"]).toContain((await call.event("call.ended"))["end_reason"])
    }
  },
  {
    name: "the caller gives up while we answer: the call has ended once",
    run: async (world) => {
      const { call, far } = await World.offered(world)
      await Promise.all([atOnce(world, call, ["answer"]), far.hangUp().catch(() => undefined)])
      await call.event("call.ended")
    }
  },
  {
    name: "both far ends of a bridge hang up at once: each call has ended once",
    run: async (world) => {
      const [one, two] = await World.bridged(world)
      await Promise.all([one.far.hangUp(), two.far.hangUp().catch(() => undefined)])
      await Promise.all([one.call.event("call.ended"), two.call.event("call.ended")])
    }
  },
  {
    name: "the leg of a transfer answers while the call is hung up: it is let go",
    run: async (world) => {
      const { call } = await World.answered(world)
      const key = randomUUID()
      await call.act("transfer", { to: world.ends.number, custom_headers: [{ name: "X-Row", value: key }] })
      const other = await world.ends.offered(key)
      await Promise.all([other.answer().catch(() => undefined), call.act("hangup")])
      await other.gone()
      await call.event("call.ended")
      expect(count(call.types(), "call.bridged") + count(call.types(), "call.transfer_failed")).toBe(1)
    }
  },
  {
    name: "two bridges that ask for each other at once are one bridge",
    run: async (world) => {
      const [one, two] = await Promise.all([World.answered(world), World.answered(world)])
      const [first, second] = [await one.call.legId(), await two.call.legId()]
      const answers = await Promise.all([
        atOnce(world, one.call, ["bridge", { leg_id: second }]),
        atOnce(world, two.call, ["bridge", { leg_id: first }])
      ])
      // The second request may find the first unfinished.
      expect(answers.flat()).toContain("200")
      await Promise.all([one.call.event("call.bridged"), two.call.event("call.bridged")])
      await one.far.press("8")
      expect(await two.far.heardDigits(1)).toBe("8")
    }
  },
  {
    name: "a call that is placed twice at once with one key is one call",
    run: async (world) => {
      const key = randomUUID()
      const body = { from: world.tenant.number, to: "+12025550101", customer_reference: key }
      const place = () => world.tenant.ask("POST", "/v1/calls", body, { "idempotency-key": key })
      const answers = await Promise.all([place(), place(), place()])
      const again = await place()
      expect(again.headers["idempotent-replayed"]).toBe("true")
      for (const answer of answers)
        expect([answer.status === 201 ? answer.text : `${answer.status} ${String(TestServer.codeOf(answer))}`]).toEqual(
          [answer.status === 201 ? again.text : "409 conflict"]
        )
      const { id } = again.json as { readonly id: string }
      const tape = world.running().delivered.of(id)
      await tape.next("its end", ({ event_type }) => event_type === "call.ended")
      const started = world
        .running()
        .delivered.all.all.filter(
          ({ data, event_type }) => event_type === "call.started" && data["customer_reference"] === key
        )
      expect(started.length).toBe(1)
    }
  }
]
