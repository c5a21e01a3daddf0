import { expect } from "@effect/vitest"
import * as CallMachine from "../../../../../src/telephony/call/machine/CallMachine.ts"
import { primary } from "../../../../../src/telephony/call/machine/CallState.ts"
import { type Leg, lives } from "../../../../../src/telephony/call/machine/leg/Leg.ts"
import * as Meter from "../../../../../src/telephony/call/machine/Meter.ts"
import type { EmittedByCall } from "../../../../../src/domain/event/EventCatalogue.ts"
import type * as Id from "../../../../../src/domain/Id.ts"
import * as Outcome from "./Outcome.ts"
import type { Phone, RunningCarrier } from "./RunningCarrier.ts"
import * as RunningRows from "./RunningRows.ts"

type Call = RunningRows.Call
type Event<Type extends EmittedByCall["type"]> = Extract<EmittedByCall, { readonly type: Type }>

const told = <Type extends EmittedByCall["type"]>({ events }: Call, ...types: ReadonlyArray<Type>) =>
  events.filter((event): event is Event<Type> => types.some((type) => type === event.type))

const legOf = ({ calls }: RunningRows.Rows, legId: Id.LegId): Leg | undefined =>
  [...calls.values()].flatMap(({ state }) => state.legs).find(({ id }) => id === legId)

/** Once no event is on its way, and sounds and deadlines had their time, the calls agree with the carrier. */
export const agree = (rows: RunningRows.Rows, carrier: RunningCarrier): void => {
  for (const [legId, phone] of carrier.phones) {
    // An event of this leg is still on its way.
    if (phone.told.length > 0) continue
    const leg = legOf(rows, legId)
    expect.assert(leg !== undefined)
    expect([legId, leg.gone]).toEqual([legId, phone.phase === "over"])
    if (phone.phase === "over") expect(leg.endedAt).not.toBeNull()
    else expect(leg.bridge?.legId ?? null).toBe(carrier.facts(legId).bridge?.peerLegId ?? null)
    if (phone.phase !== "over" && leg.role === "primary") {
      const room = [...rows.calls.values()].find(({ state }) => primary(state).id === legId)?.state.room ?? null
      expect([legId, room?.phase === "in" ? room.memberId : null]).toEqual([legId, carrier.memberOf(legId)])
    }
    if (phone.phase === "talking") expect(leg.answeredAt).toBe(phone.answeredAt)
  }
  for (const { state } of rows.calls.values()) {
    expect(primary(state).status).toBe(state.status)
    expect(state.work.filter(({ type }) => type !== "recording")).toEqual([])
    for (const leg of state.legs.filter(lives))
      expect(leg.status === "bridged").toBe(
        leg.bridge !== null || (leg.role === "primary" && state.room?.phase === "in")
      )
  }
}

/** Every digit of a leg is reported once, in order, with its time, until the leg has ended. */
const digits = (call: Call, legId: Id.LegId, { pressed }: Phone): void => {
  const heard = told(call, "call.dtmf").flatMap(({ data }) =>
    data.legId === legId ? [{ digit: data.digit, at: data.receivedAt }] : []
  )
  expect(heard).toEqual(pressed.slice(0, heard.length))
}

/** How long a leg may ring; an inbound one waits thirty seconds for a command, and forty for its answer. */
const ringsUntil = ({ initiatedAt, ringSecs }: Leg): number => initiatedAt + (ringSecs ?? 70) * 1000

const untilOf = (leg: Leg): number =>
  leg.answeredAt === null ? ringsUntil(leg) : leg.answeredAt + leg.limit.afterSecs * 1000

/**
 * No leg lasts longer than it may, unless a request or a conference comes while its deadline waits; a leg that a
 * deadline ended has ended at that time. Legs end with the call's own.
 */
const times = (leg: Leg, legs: ReadonlyArray<Leg>): void => {
  const { endInitiator, endReason, endedAt } = leg
  expect.assert(endedAt !== null)
  if (endInitiator !== "api" && endReason !== "conference_ended") expect(endedAt).toBeLessThanOrEqual(untilOf(leg))
  if (leg.answeredAt !== null) expect(leg.answeredAt).toBeLessThanOrEqual(ringsUntil(leg))
  if (endReason === "timeout") expect(endedAt).toBe(untilOf(leg))
  if (endReason === "time_limit") expect(legs.map(untilOf)).toContain(endedAt)
}

/**
 * Each gather has one outcome, at its deadline at the latest. A request that comes while a deadline waits for the
 * carrier's events finds the gather still there.
 */
const gathers = (call: Call): void => {
  const started = call.inputs.flatMap(({ context, input }, index) =>
    input.type === "action" && input.action.verb === "gather"
      ? [{ ...input.action.body, index, startedAt: context.now }]
      : []
  )
  const pressedSince = (index: number) =>
    call.inputs.slice(index).flatMap(({ input }) => {
      const event = input.type === "carrier" ? input.event : null
      return event?.type === "media" && event.event.type === "dtmf" && event.legId === primary(call.state).id
        ? [event.event.at]
        : []
    })
  const outcomes = told(call, "call.gather_complete").map(({ data }) => data)
  expect(outcomes.length).toBe(started.length)
  started.forEach(({ index: at, initialTimeoutMs, interDigitTimeoutMs, startedAt, timeoutMs }, index) => {
    const { completedAt = 0, status } = outcomes[index] ?? {}
    // A digit that was pressed too late does not count, whenever it is reported.
    const pressed = pressedSince(at)
    // A digit that was pressed before and is reported late counts as well.
    if (pressed.some((pressedAt) => pressedAt < startedAt)) return
    const until = pressed.reduce(
      (due, pressedAt) =>
        pressedAt <= Math.min(due, completedAt)
          ? Math.min(startedAt + timeoutMs, pressedAt + interDigitTimeoutMs)
          : due,
      startedAt + Math.min(timeoutMs, initialTimeoutMs)
    )
    if (status !== "cancelled" && status !== "call_ended") expect(completedAt).toBeLessThanOrEqual(until)
    if (status === "timeout" && pressed.every((pressedAt) => pressedAt > until)) expect(completedAt).toBe(until)
  })
}

/** Every sound and every recording that began has one end. */
const works = (call: Call): void => {
  const started = (family: string) =>
    [...call.started.values()].filter(({ type }) => type === family).map(({ id }) => id)
  expect(
    told(call, "call.playback_ended")
      .map(({ data }) => data.playbackId)
      .toSorted()
  ).toEqual(started("playback").toSorted())
  expect(
    told(call, "recording.completed", "recording.failed")
      .map(({ data }) => data.recordingId)
      .toSorted()
  ).toEqual(
    started("recording")
      .map((id) => `svc_rec_${id}`)
      .toSorted()
  )
}

/** Every request that connects legs has its outcome. */
const connects = (call: Call): void => {
  for (const each of call.connects) {
    const again = call.connects.find(({ legId, since }) => legId === each.legId && since > each.since)?.since
    const outcomes = call.events.slice(each.since, again).filter((event) => Outcome.isOf(each, event))
    expect([each.verb, outcomes.length > 0]).toEqual([each.verb, true])
    const failures = outcomes.filter(({ type }) => type === "call.transfer_failed").length
    if (each.verb === "transfer") expect(failures).toBe(outcomes.some(({ type }) => type === "call.bridged") ? 0 : 1)
  }
  const asked = (verb: Outcome.Asked["verb"]) => call.connects.filter((each) => each.verb === verb).length
  expect(told(call, "call.refer_completed", "call.refer_failed").length).toBe(asked("refer"))
  expect(told(call, "call.bridge_failed").length).toBeLessThanOrEqual(asked("bridge"))
}

/** The call reports each membership that it took once, and its leaving once. A stay costs from in to out. */
const stays = ({ inputs, said, state }: Call): void => {
  for (const memberId of new Set(said.map((told) => told.memberId))) {
    const types = said.filter((told) => told.memberId === memberId).map(({ type }) => type)
    // A call that was dialled for a membership may end before it is answered.
    expect([["entered", "left"], ["left"]]).toContainEqual(types)
    const joined = inputs.some(
      ({ input }) => input.type === "carrier" && input.event.type === "room_joined" && input.event.memberId === memberId
    )
    const meters = state.meters.filter(({ workId }) => workId === memberId)
    expect(meters.length).toBe(1)
    expect(meters[0]?.startedAt === null || (joined && meters[0]?.endedAt !== null)).toBe(true)
  }
  expect(state.room).toBeNull()
}

/** The checks when all calls are over. */
export const ended = (rows: RunningRows.Rows, carrier: RunningCarrier): void => {
  agree(rows, carrier)
  expect([...carrier.phones.values()].filter(({ phase, told }) => phase !== "over" || told.length > 0)).toEqual([])
  for (const call of rows.calls.values()) {
    const { charged, events, state } = call
    expect(CallMachine.isSettled(state)).toBe(true)
    // Work that outlives the call is reported after its end.
    const own = events.filter(({ type }) => !type.startsWith("recording."))
    expect(own.filter(({ type }) => type === "call.ended").length).toBe(1)
    expect(own.at(-1)?.type).toBe("call.ended")
    expect(state.sequence).toBe(events.length)
    expect(charged).toBe(Meter.chargeCents(state.meters))
    stays(call)
    expect(RunningRows.replayed(call)).toStrictEqual(state)
    for (const leg of state.legs) {
      times(leg, state.legs)
      const phone = carrier.phones.get(leg.id)
      if (phone !== undefined) digits(call, leg.id, phone)
      const [meter] = state.meters.filter(({ kind, legId }) => kind === "leg" && legId === leg.id)
      expect(meter?.startedAt).toBe(leg.answeredAt)
      if (leg.answeredAt !== null) expect(meter?.endedAt).toBe(leg.endedAt)
    }
    gathers(call)
    works(call)
    connects(call)
  }
}
