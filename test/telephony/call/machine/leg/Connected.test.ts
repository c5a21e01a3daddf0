import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import type { CallInput } from "../../../../../src/telephony/call/machine/CallInput.ts"
import * as CallMachine from "../../../../../src/telephony/call/machine/CallMachine.ts"
import { type CallState, isTerminal, primary } from "../../../../../src/telephony/call/machine/CallState.ts"
import { type Leg, lives } from "../../../../../src/telephony/call/machine/leg/Leg.ts"
import * as Meter from "../../../../../src/telephony/call/machine/Meter.ts"
import * as CallVerbs from "../../../../../src/telephony/call/verb/CallVerbs.ts"
import * as Bridges from "../../../../../src/carrier/bridge/Bridges.ts"
import type { CarrierCommand, CarrierEvent, LegReport } from "../../../../../src/carrier/Carrier.ts"
import type { EmittedByCall } from "../../../../../src/domain/event/EventCatalogue.ts"
import * as Id from "../../../../../src/domain/Id.ts"
import * as Random from "../../../../support/Random.ts"
import * as SeenEvent from "../../../../support/SeenEvent.ts"
import * as Sample from "../../CallSample.ts"
import * as Outcome from "./Outcome.ts"

/**
 * Three calls at one carrier that bridge, transfer, refer and hang up at random, over a network in between: each leg's
 * events come in order, but late, twice, and in any order between legs. The carrier is a model with the real
 * `Bridges`. Whatever happens, the calls end in the carrier's state, and every request has one outcome.
 */
interface Phone {
  readonly callId: Id.CallId
  phase: "alerting" | "talking" | "over"
  n: number
  /** Events that are sent and not received yet. */
  readonly told: Array<CarrierEvent>
  readonly taken: Set<string>
}

interface Call {
  state: CallState
  readonly events: Array<EmittedByCall>
  charged: number
}

const t0 = 1_000_000
const life = "first life"

const makeWorld = () => {
  const phones = new Map<Id.LegId, Phone>()
  const calls = new Map<Id.CallId, Call>()
  let now = t0
  let steps = 0

  const tell = (legId: Id.LegId, report: LegReport): void => {
    const phone = phones.get(legId)
    if (phone === undefined || (phone.phase === "over" && report.type !== "ended")) return
    phone.told.push({ legId, at: now, incarnation: life, n: ++phone.n, ...report })
  }
  const bridges = Bridges.make({
    legOf: (legId) => {
      const phone = phones.get(legId)
      return phone === undefined || phone.phase === "over"
        ? null
        : { isTalking: () => phone.phase === "talking", tell: (report) => tell(legId, report) }
    },
    join: (_, __, settled) => settled(null),
    part: () => undefined,
    leaveRoom: () => undefined
  })
  const end = (legId: Id.LegId, report: Omit<Extract<LegReport, { readonly type: "ended" }>, "type">): void => {
    const phone = phones.get(legId)
    if (phone === undefined || phone.phase === "over") return
    phone.phase = "over"
    bridges.ended(legId)
    tell(legId, { type: "ended", ...report })
  }
  const carry = (command: CarrierCommand): void => {
    const phone = phones.get(command.legId)
    if (command.type === "dial") {
      if (phone === undefined)
        phones.set(command.legId, {
          callId: command.callId,
          phase: "alerting",
          n: 0,
          told: [],
          taken: new Set([command.commandId])
        })
      return
    }
    if (phone === undefined || phone.taken.has(command.commandId)) return
    phone.taken.add(command.commandId)
    switch (command.type) {
      case "hangup":
        return end(command.legId, { cause: "hangup", sipStatus: null, by: "near" })
      case "bridge":
        return bridges.bridge(command)
      case "unbridge":
        return bridges.unbridge(command.legId)
      case "refer":
        return phone.phase === "talking"
          ? tell(command.legId, { type: "referred", commandId: command.commandId, status: "accepted", sipStatus: 202 })
          : tell(command.legId, { type: "command_failed", commandId: command.commandId, reason: "not_answered" })
      default:
        return
    }
  }
  const feed = (callId: Id.CallId, input: CallInput): string => {
    const call = calls.get(callId)
    const at = Math.max(now, call?.state.at ?? 0)
    const outcome = CallMachine.step(call?.state ?? null, input, { now: at, seed: `seed${++steps}` })
    if (outcome.type !== "accepted") return outcome.type
    const { charges, commands, events } = outcome.effects
    SeenEvent.check(events)
    const next = call ?? { state: outcome.state, events: [], charged: 0 }
    next.state = outcome.state
    next.events.push(...events)
    next.charged += charges.reduce((sum, { cents }) => sum + cents, 0)
    calls.set(callId, next)
    for (const command of commands) carry(command)
    return "accepted"
  }
  /** Timers wait until all sent events of the call are received, as its actor does. */
  const isCaughtUp = (callId: Id.CallId): boolean =>
    [...phones.values()].every((phone) => phone.callId !== callId || phone.told.length === 0)
  const timers = (until: number): void => {
    for (const [callId, call] of calls)
      for (
        let due = CallMachine.nextDeadline(call.state);
        due !== null && due.at <= until && isCaughtUp(callId);
        due = CallMachine.nextDeadline(call.state)
      ) {
        now = Math.max(now, due.at)
        feed(callId, due.input)
      }
  }
  const hear = (legId: Id.LegId, isCopy: boolean): void => {
    const phone = phones.get(legId)
    const [event] = phone?.told ?? []
    if (phone === undefined || event === undefined) return
    if (!isCopy) phone.told.shift()
    feed(phone.callId, { type: "carrier", event })
  }
  return {
    phones,
    calls,
    feed,
    end,
    tell,
    hear,
    facts: bridges.facts,
    pass: (ms: number) => {
      timers(now + ms)
      now += ms
    },
    now: () => now,
    timers
  }
}
type World = ReturnType<typeof makeWorld>

const names = ["one", "two", "three"] as const

const place = (world: World, name: string): void => {
  const callId = Id.derive(name, "call")
  if (world.calls.has(callId)) return
  world.feed(callId, { ...(Sample.place() as Extract<CallInput, { type: "place" }>), terms: Sample.terms({ callId }) })
}

interface Move {
  readonly kind: number
  readonly call: (typeof names)[number]
  readonly leg: number
  readonly ms: number
}

/** An accepted request, which must have exactly one outcome. */
interface Asked extends Outcome.Asked {
  readonly callId: Id.CallId
  /** The number of events of the call before the request. */
  readonly since: number
}

const move = (world: World, { call: name, kind, leg: index, ms }: Move, asked: Array<Asked>): void => {
  const callId = Id.derive(name, "call")
  const call = world.calls.get(callId)
  const legs = [...world.phones.entries()]
  const [legId, phone] = legs[index % Math.max(1, legs.length)] ?? []
  switch (kind) {
    case 0:
    case 1:
      return place(world, name)
    case 2:
    case 3:
    case 4:
      if (phone?.phase === "alerting" && legId !== undefined) {
        phone.phase = "talking"
        world.tell(legId, { type: "answered", resume: null })
      }
      return
    case 5:
      return legId === undefined || ms > 3_000
        ? undefined
        : world.end(
            legId,
            phone?.phase === "talking"
              ? { cause: "hangup", sipStatus: null, by: "far" }
              : { cause: "final_response", sipStatus: 486, by: "far" }
          )
    case 6:
    case 7:
    case 8: {
      if (call === undefined) return
      const legId = Id.derive(`transfer ${asked.length}`, "leg")
      const since = call.events.length
      const outcome = world.feed(callId, {
        type: "action",
        action: CallVerbs.decodeAction("transfer", { to: "+12025550101", timeout_secs: 20 }),
        reservedMinutes: [...call.state.meters.map(({ reservedMinutes }) => reservedMinutes), 60],
        transfer: {
          legId,
          from: "+12025550150",
          incarnation: life,
          microUsdPerMinute: 20_000,
          limit: { afterSecs: 3600, reason: "time_limit" }
        }
      })
      if (outcome === "accepted") asked.push({ callId, verb: "transfer", legId, since })
      return
    }
    case 9:
    case 10:
    case 11: {
      if (call === undefined || legId === undefined || phone === undefined || legId === primary(call.state).id) return
      const since = call.events.length
      const outcome = world.feed(callId, {
        type: "action",
        action: CallVerbs.decodeAction("bridge", { leg_id: legId }),
        peerCallId: phone.callId
      })
      if (outcome === "accepted") asked.push({ callId, verb: "bridge", legId, since })
      return
    }
    case 12: {
      if (call === undefined) return
      const since = call.events.length
      const action = CallVerbs.decodeAction("refer", { sip_address: "sip:a@example.com" })
      if (world.feed(callId, { type: "action", action }) === "accepted")
        asked.push({ callId, verb: "refer", legId: primary(call.state).id, since })
      return
    }
    case 13:
      return call === undefined || ms > 1_000
        ? undefined
        : void world.feed(callId, { type: "action", action: CallVerbs.decodeAction("hangup", {}) })
    case 14: {
      const refer = call?.state.pending.find(({ type }) => type === "refer")
      if (refer !== undefined && world.phones.get(refer.legId)?.phase === "talking")
        world.tell(refer.legId, {
          type: "referred",
          commandId: refer.commandId,
          status: ms % 2 === 0 ? "completed" : "failed",
          sipStatus: ms % 2 === 0 ? 200 : 486
        })
      return
    }
    case 15:
      return world.pass(ms)
    case 16:
      return legId === undefined ? undefined : world.hear(legId, true)
    default:
      return legId === undefined ? undefined : world.hear(legId, false)
  }
}

const drain = (world: World): void => {
  for (let round = 0; round < 1000; round++) {
    const waiting = [...world.phones.entries()].find(([, { told }]) => told.length > 0)
    if (waiting === undefined) return
    world.hear(waiting[0], false)
  }
  expect.unreachable("the network never comes to rest")
}

const legOf = (world: World, legId: Id.LegId): Leg | undefined =>
  [...world.calls.values()].flatMap(({ state }) => state.legs).find(({ id }) => id === legId)

/** Once no event is on its way, the calls agree with the carrier. */
const agrees = (world: World): void => {
  for (const [legId, phone] of world.phones) {
    const leg = legOf(world, legId)
    expect.assert(leg !== undefined)
    expect(leg.gone).toBe(phone.phase === "over")
    if (phone.phase === "over") expect(leg.endedAt).not.toBeNull()
    else expect(leg.bridge?.legId ?? null).toBe(world.facts(legId).bridge?.peerLegId ?? null)
  }
  for (const { state } of world.calls.values()) {
    const own = primary(state)
    expect(own.status).toBe(state.status)
    expect(isTerminal(state)).toBe(!lives(own))
    for (const leg of state.legs.filter(lives)) expect(leg.status === "bridged").toBe(leg.bridge !== null)
  }
}

/** Plays a random run from the seed, and checks after every step that all agree. */
const play = (seed: number): void => {
  const random = Random.make(seed)
  const world = makeWorld()
  const asked: Array<Asked> = []
  for (const name of names) {
    place(world, name)
    move(world, { kind: 2, call: name, leg: world.phones.size - 1, ms: 0 }, asked)
  }
  for (let count = 20 + random.below(100); count > 0; count--)
    move(
      world,
      {
        kind: random.below(30),
        call: names[random.below(3)] ?? "one",
        leg: random.below(1000),
        ms: random.below(6_000)
      },
      asked
    )
  drain(world)
  agrees(world)

  // Everything ends: every ring time, limit and hang-up is over.
  world.pass(4_000_000)
  for (const callId of world.calls.keys())
    world.feed(callId, { type: "action", action: CallVerbs.decodeAction("hangup", {}) })
  for (let round = 0; round < 20; round++) {
    drain(world)
    world.pass(4_000_000)
  }
  agrees(world)
  expect([...world.phones.values()].filter(({ phase }) => phase !== "over")).toEqual([])
  for (const { charged, events, state } of world.calls.values()) {
    expect(CallMachine.isSettled(state)).toBe(true)
    expect(events.filter(({ type }) => type === "call.ended").length).toBe(1)
    expect(events.at(-1)?.type).toBe("call.ended")
    expect(charged).toBe(Meter.costCents(state.meters))
    expect(state.meters.every(({ endedAt, startedAt }) => startedAt === null || endedAt !== null)).toBe(true)
    expect(JSON.parse(JSON.stringify(state))).toStrictEqual(state)
  }
  for (const each of asked) {
    const { events } = world.calls.get(each.callId) ?? { events: [] }
    const first = events.slice(each.since).filter((event) => Outcome.isOf(each, event))
    expect([each.verb, first.length > 0]).toEqual([each.verb, true])
    if (each.verb === "transfer")
      expect(first.filter(({ type }) => type === "call.transfer_failed").length).toBe(
        first.some(({ type }) => type === "call.bridged") ? 0 : 1
      )
  }
}

describe("Calls that are connected with each other", () => {
  it.prop(
    "come to what their carrier says, whatever is asked, told late, twice and in whatever order",
    { seed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000 })) },
    ({ seed }) => play(seed),
    { arbitrary: { runs: 600 } }
  )

  it("tell of a bridge with a leg of the same call that ended before its news came", () => play(369_050_015))

  it("refuse a bridge with a leg of the same call that has ended, and still has news to come", () => play(175_574_990))

  it("tell one outcome of a transfer whose leg another call takes while the call's own leg is taken", () =>
    play(739_224_218))

  it("tell the failure of a transfer whose leg is hung up with the call that took it", () => play(563_616_727))
})
