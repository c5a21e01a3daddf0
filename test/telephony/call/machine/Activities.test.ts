import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as CallMachine from "../../../../src/telephony/call/machine/CallMachine.ts"
import type { CallInput } from "../../../../src/telephony/call/machine/CallInput.ts"
import { type CallState, isTerminal } from "../../../../src/telephony/call/machine/CallState.ts"
import type { LegReport } from "../../../../src/carrier/Carrier.ts"
import * as ActionKind from "../../../../src/telephony/call/verb/ActionKind.ts"
import * as CallVerbs from "../../../../src/telephony/call/verb/CallVerbs.ts"
import type { WorkId } from "../../../../src/domain/Id.ts"
import type { EmittedByCall as CallEvent } from "../../../../src/domain/event/EventCatalogue.ts"
import type { MediaEvent } from "../../../../src/ports/media/MediaMessage.ts"
import * as Media from "../../../media/support/MediaSample.ts"
import * as Ids from "../../../support/Ids.ts"
import * as SeenEvent from "../../../support/SeenEvent.ts"
import * as Sample from "../CallSample.ts"

/**
 * A family like recording: its result is still being stored when its leg is gone. It also receives digits, and ends at
 * a star; its events borrow the shape of a playback's.
 */
const storing = ActionKind.make(
  "storing",
  { stars: Schema.Number },
  {
    limit: 4,
    full: "4 are stored already",
    told: (item, { reason, status }) => ended(item, status, reason),
    digit: (item, digit) =>
      digit !== "*"
        ? { item, tells: null }
        : item.stars === 1
          ? { item: null, tells: ended(item, "stopped", "star") }
          : { item: { ...item, stars: 1 }, tells: null },
    legEnded: { outlivesMs: 60_000, expired: (item) => ended(item, "failed", "not_stored") },
    restarted: "kept"
  }
)
const ended =
  (item: ActionKind.Activity, status: "completed" | "stopped" | "failed", reason: string | null): ActionKind.Ending =>
  (of, at) => ({ type: "call.playback_ended", data: { ...of, playbackId: item.id, status, reason, endedAt: at } })

const store = storing.verb({
  summary: "Store",
  when: "talking",
  body: Schema.Struct({}),
  act: ({ derive }) => {
    const id = derive("storing")
    return { type: "begin", item: { id, media: Media.play(id, "https://store.example/"), stars: 0 } }
  }
})

const machine = CallMachine.over({ ...CallVerbs.table, store })

interface Scene {
  readonly state: CallState
  readonly events: ReadonlyArray<CallEvent>
  readonly started: ReadonlyMap<WorkId, string>
  readonly count: number
}

const t0 = 1_000_000
const send = (scene: Scene | null, input: CallInput, now: number): Scene => {
  const count = (scene?.count ?? 0) + 1
  const at = Math.max(now, scene?.state.at ?? 0)
  const outcome = machine.step(scene?.state ?? null, input, { now: at, seed: `seed${count}` })
  if (outcome.type !== "accepted") {
    expect.assert(scene !== null)
    return { ...scene, count }
  }
  SeenEvent.check(outcome.effects.events)
  const { state } = outcome
  return {
    state,
    events: [...(scene?.events ?? []), ...outcome.effects.events],
    started: new Map([...(scene?.started ?? []), ...state.work.map(({ id, type }) => [id, type] as const)]),
    count
  }
}
const carrier = (scene: Scene, report: LegReport, now: number): Scene =>
  send(scene, { type: "carrier", event: Sample.event(scene, report, now) }, now)
const told = (scene: Scene, event: MediaEvent, now: number): Scene => carrier(scene, { type: "media", event }, now)
const act = (scene: Scene, verb: string, body: object, now: number): Scene =>
  send(scene, { type: "action", action: { verb, body } } as unknown as CallInput, now)
const answered = (): Scene => carrier(send(null, Sample.place(), t0), { type: "answered", resume: null }, t0 + 1000)
const wait = (scene: Scene): Scene => {
  const next = machine.nextDeadline(scene.state)
  return next === null ? scene : send(scene, next.input, next.at)
}
const lastEvent = ({ events }: Scene) => {
  const event = events.at(-1)
  return event?.type === "call.playback_ended" ? `${event.data.status} ${event.data.reason}` : event?.type
}
const storingCall = () => {
  const scene = act(answered(), "store", {}, t0 + 2000)
  return { scene, id: scene.state.work[0]?.id ?? Ids.work("") }
}
const hungUp = (scene: Scene) =>
  carrier(
    act(scene, "hangup", {}, t0 + 3000),
    { type: "ended", cause: "hangup", sipStatus: null, by: "near" },
    t0 + 3100
  )

describe("Work that outlives its leg", () => {
  it("is set apart when the call ends, which is not settled before its outcome", () => {
    const { id, scene } = storingCall()
    const after = hungUp(scene)
    expect(isTerminal(after.state)).toBe(true)
    expect(after.state.work).toStrictEqual([])
    expect(after.state.outliving.map(({ item, until }) => [item.id, until])).toStrictEqual([[id, t0 + 3000 + 60_000]])
    expect(machine.isSettled(after.state)).toBe(false)
    expect(lastEvent(after)).toBe("call.ended")
    const done = told(after, Media.completed(id), t0 + 9000)
    expect(lastEvent(done)).toBe("completed null")
    expect(machine.isSettled(done.state)).toBe(true)
    expect(told(done, Media.completed(id), t0 + 9001).events.length).toBe(done.events.length)
  })

  it("ends by its own deadline when no outcome comes", () => {
    const after = hungUp(storingCall().scene)
    expect(machine.nextDeadline(after.state)?.at).toBe(t0 + 63_000)
    const late = wait(after)
    expect(lastEvent(late)).toBe("failed not_stored")
    expect(machine.isSettled(late.state)).toBe(true)
  })

  it("survives recovery, before and after the end of the call", () => {
    const { id, scene } = storingCall()
    const lost = send(scene, Sample.recovered(scene, "gone", t0 + 2500), t0 + 5000)
    expect(isTerminal(lost.state)).toBe(true)
    const again = send(lost, Sample.recovered(lost, "gone", t0 + 5500), t0 + 8000)
    expect(again.state.outliving.length).toBe(1)
    expect(JSON.parse(JSON.stringify(again.state))).toStrictEqual(again.state)
    const gone = carrier(again, { type: "ended", cause: "lost", sipStatus: null, by: "network" }, t0 + 8100)
    expect(machine.isSettled(gone.state)).toBe(false)
    const done = told(gone, Media.failed(id, "disk_full"), t0 + 9000)
    expect(lastEvent(done)).toBe("failed disk_full")
    expect(machine.isSettled(done.state)).toBe(true)
  })

  it("is as any other work while its leg is there: told, refused, ended by digits", () => {
    const { id, scene } = storingCall()
    expect(lastEvent(told(scene, Media.stopped(id), t0 + 2100))).toBe("stopped null")
    const { commandId } = scene.state.work[0] ?? { commandId: Ids.command("") }
    const refused = carrier(scene, { type: "command_failed", commandId, reason: "unknown_leg" }, t0 + 2100)
    expect(lastEvent(refused)).toBe("failed unknown_leg")
    const star: MediaEvent = { type: "dtmf", digit: "*", at: t0 + 2100 }
    const once = told(scene, star, t0 + 2100)
    expect(once.state.work.length).toBe(1)
    expect(lastEvent(told(once, star, t0 + 2200))).toBe("stopped star")
  })
})

/** Moves of a random walk over everything that can begin, change and end work. */
const Move = Schema.Struct({
  kind: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 19 })),
  which: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })),
  status: Schema.Literals(["completed", "stopped", "failed"]),
  digit: Schema.Literals(["1", "*", "#"]),
  wait: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9_000 }))
})

const move = (scene: Scene, { digit, kind, status, wait: ms, which }: typeof Move.Type): Scene => {
  const now = scene.state.at + ms
  const ids = [...scene.started.keys()]
  const id = ids[which % Math.max(1, ids.length)] ?? Ids.work("nobody's")
  switch (kind) {
    case 0:
    case 1:
      return act(scene, "play", { url: "https://a.example/", loop: 1, targetLegs: "self" }, now)
    case 2:
    case 3:
      return act(scene, "store", {}, now)
    case 4:
    case 5:
      return send(scene, { type: "action", action: CallVerbs.decodeAction("gather", {}) }, now)
    case 6:
      return act(scene, "stop_gather", {}, now)
    case 7:
      return act(scene, "send_dtmf", { digits: "12", durationMs: 250 }, now)
    case 8:
      return act(scene, "stop_playback", { stop: "all" }, now)
    case 9:
    case 10:
    case 11:
      return told(scene, { type: "ended", id, status, reason: status === "failed" ? "no" : null }, now)
    case 12:
      return carrier(
        scene,
        {
          type: "command_failed",
          commandId: scene.state.work[which]?.commandId ?? Ids.command(""),
          reason: "unknown_leg"
        },
        now
      )
    case 13:
    case 14:
      return told(scene, { type: "dtmf", digit, at: now }, now)
    case 15:
      return wait(scene)
    case 16:
      return send(
        scene,
        Sample.recovered(scene, (["gone", "alive", "elsewhere", "unknown"] as const)[which] ?? "alive", now),
        now
      )
    case 17:
      return which < 2 ? act(scene, "hangup", {}, now) : scene
    case 18:
      return which < 2 ? carrier(scene, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }, now) : scene
    default:
      return which === 0 ? send(scene, { type: "faulted", reason: "test" }, now) : scene
  }
}

describe("Properties of work over random inputs", () => {
  it.prop(
    "every item that began has exactly one ending, whatever came first, and only outliving work ends after the call",
    { moves: Schema.Array(Move).check(Schema.isMaxLength(60)) },
    ({ moves }) => {
      let scene = moves.reduce(move, answered())
      for (let count = 0; count < 20 && !machine.isSettled(scene.state); count++) scene = wait(scene)
      expect(machine.isSettled(scene.state)).toBe(true)
      const idsOf = (...types: ReadonlyArray<string>) =>
        [...scene.started].flatMap(([id, type]) => (types.includes(type) ? [id] : []))
      const ends = scene.events.flatMap((event) =>
        event.type === "call.playback_ended" ? [event.data.playbackId] : []
      )
      expect(ends.toSorted()).toStrictEqual(idsOf("playback", "storing").toSorted())
      const gathered = scene.events.filter(({ type }) => type === "call.gather_complete")
      expect(gathered.length).toBe(idsOf("gather").length)
      const after = scene.events.slice(scene.events.findIndex(({ type }) => type === "call.ended") + 1)
      const outlived = new Set<string>(idsOf("storing"))
      expect(after.every((event) => event.type === "call.playback_ended" && outlived.has(event.data.playbackId))).toBe(
        true
      )
    },
    { arbitrary: { runs: 1000 } }
  )
})
