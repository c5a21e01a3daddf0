import { describe, expect, it } from "@effect/vitest"
import { isSettled, machineVersion } from "../../../../src/telephony/call/machine/CallMachine.ts"
import { stateVersion } from "../../../../src/telephony/call/machine/CallState.ts"
import * as Id from "../../../../src/domain/Id.ts"
import * as Envelope from "../../../../src/domain/event/Envelope.ts"
import * as CallTimeline from "../../../../src/telephony/call/timeline/CallTimeline.ts"
import * as CallTimelineText from "../../../../src/edge/operator/call/CallTimelineText.ts"
import type { Json, StoredEntity, StoredInput } from "../../../../src/runtime/store/journal/Journal.ts"
import * as CallSample from "../../../telephony/call/CallSample.ts"
import * as Ids from "../../../support/Ids.ts"

/** The journal of a call that is answered, plays a digit and is hung up by the far end. */
const scene = () => {
  let call = CallSample.start(CallSample.place(), 1_000_000)
  call = CallSample.carrier(call, { type: "ringing", resume: null }, 1_000_400)
  call = CallSample.carrier(call, { type: "answered", resume: { dialog: 1 } }, 1_001_000)
  call = CallSample.act(call, "play", { url: "https://a.example/b.wav" }, 1_001_200)
  call = CallSample.dtmf(call, "7", 1_002_000)
  return CallSample.carrier(call, { type: "ended", cause: "hangup", sipStatus: null, by: "far" }, 1_005_000)
}

const stored = (call: CallSample.Scene) => {
  const json = (value: unknown) => JSON.parse(JSON.stringify(value)) as Json
  const entity: StoredEntity = {
    id: call.state.id,
    kind: "call",
    tenantId: call.state.tenantId,
    partition: 0,
    seq: call.state.seq,
    settled: isSettled(call.state),
    stateVersion,
    state: json(call.state)
  }
  const inputs = call.log.map(({ context, input }, index): StoredInput => ({
    seq: index + 1,
    at: context.now,
    seed: context.seed,
    machineVersion,
    input: json(input)
  }))
  const events = CallSample.events(call).map((event, index): CallTimeline.StoredEvent => ({
    id: Id.deriveUuid(call.state.id, "event", index + 1),
    sequence: index + 1,
    type: event.type,
    occurredAt: 1_000_000,
    body: JSON.stringify({ event_type: event.type, data: Envelope.dataOf(event) })
  }))
  return { entity, inputs, events }
}

const nothingGone = { journal: false, eventsBefore: null }

const delivery = (eventId: Id.EventId, fields: Partial<CallTimeline.Delivery> = {}): CallTimeline.Delivery => ({
  eventId,
  deliveryId: Ids.delivery("d"),
  endpoint: "svc_sub_1",
  attemptNo: 1,
  status: "succeeded",
  responseStatusCode: 200,
  errorMessage: null,
  sentAt: 1_000_050,
  nextRetryAt: null,
  ...fields
})

describe("the timeline of a call", () => {
  it("agrees with what is stored, and tells each input with its state, commands and events", () => {
    const { entity, events, inputs } = stored(scene())
    const timeline = CallTimeline.make(entity, inputs, events, [], nothingGone)
    expect(timeline.differences).toStrictEqual([])
    expect(timeline.agrees).toBe(true)
    expect(timeline.steps.map(({ eventSequences, state }) => [state?.status, ...eventSequences])).toStrictEqual([
      ["initiated", 1],
      ["ringing", 2],
      ["answered", 3],
      ["answered"],
      ["answered", 4],
      ["ended", 5, 6]
    ])
    expect(timeline.steps[0]?.commands.map(({ type }) => type)).toStrictEqual(["dial"])
  })

  it("leaves out what was committed after the state was read", () => {
    const now = stored(scene())
    const before = stored({ ...scene(), state: CallSample.start(CallSample.place(), 1_000_000).state })
    const timeline = CallTimeline.make(before.entity, now.inputs, now.events, [], nothingGone)
    expect(timeline.differences).toStrictEqual([])
    expect(timeline.steps.length).toBe(1)
  })

  it("replays nothing of a journal that retention took, and says so", () => {
    const { entity, events, inputs } = stored(scene())
    const gone = { journal: true, eventsBefore: 1_000_500 }
    const timeline = CallTimeline.make(entity, inputs.slice(0, 2), [], [], gone)
    expect([timeline.isJournalGone, timeline.agrees, timeline.steps.length]).toStrictEqual([true, true, 0])
    expect(CallTimelineText.render(timeline, { states: false })).toContain("Its journal was deleted because of its age")
    // A complete journal is replayed, however old it is. Events may be missing only as far as they are older.
    expect(CallTimeline.make(entity, inputs, events.slice(2), [], gone).differences).toStrictEqual([])
    expect(
      CallTimeline.make(entity, inputs, events.slice(3), [], gone).differences.map(({ path }) => path)
    ).toStrictEqual(["event 3"])
  })

  it("names every place where the replay is not what is stored", () => {
    const { entity, events, inputs } = stored(scene())
    const state = { ...(entity.state as object), status: "failed", costCents: 99 } as Json
    const forged = events.map((event) =>
      event.sequence === 2 ? { ...event, body: event.body.replace('"ringing_at":"1970', '"ringing_at":"1971') } : event
    )
    const timeline = CallTimeline.make({ ...entity, state }, inputs, forged, [], nothingGone)
    expect(timeline.agrees).toBe(false)
    expect(timeline.differences.map(({ path, replayed, stored: there }) => [path, replayed, there])).toStrictEqual([
      ["status", "ended", "failed"],
      ["costCents", 1, 99],
      ["event 2.data.ringing_at", "1970-01-01T00:16:40.400Z", "1971-01-01T00:16:40.400Z"]
    ])
  })

  it("asks an earlier version's events for no field that came later", () => {
    const { entity, events, inputs } = stored(scene())
    const told = events.map((event) =>
      event.sequence === 2 ? { ...event, body: event.body.replace(/,?"ringing_at":"[^"]*"/u, "") } : event
    )
    const paths = (version: number) =>
      CallTimeline.make(
        entity,
        inputs.map((input) => ({ ...input, machineVersion: version })),
        told,
        [],
        nothingGone
      ).differences.map(({ path }) => path)
    expect(paths(machineVersion)).toStrictEqual(["event 2.data.ringing_at"])
    expect(paths(3)).toStrictEqual([])
  })

  it("says which input is missing, and which the machine does not take again", () => {
    const { entity, events, inputs } = stored(scene())
    const timeline = CallTimeline.make(
      entity,
      inputs.filter(({ seq }) => seq !== 3),
      events,
      [],
      nothingGone
    )
    const paths = timeline.differences.map(({ path, replayed }) => `${path}: ${JSON.stringify(replayed)}`)
    expect(paths).toContain('input 3: "missing from the journal"')
    expect(paths).toContain('input 4: "the machine answers rejected this time"')
  })

  it("goes on behind an input that makes the machine throw", () => {
    const { entity, events, inputs } = stored(scene())
    const broken = inputs.map((input) => (input.seq === 2 ? { ...input, input: { type: "carrier" } } : input))
    const timeline = CallTimeline.make(entity, broken, events, [], nothingGone)
    expect(timeline.agrees).toBe(false)
    expect(timeline.steps.length).toBe(inputs.length)
    expect(timeline.steps[1]?.fault ?? "").toMatch(/^the machine throws/)
  })

  it("reads as a timeline", () => {
    const { entity, events, inputs } = stored(scene())
    const failing = delivery(events[1]?.id ?? Ids.event(""), {
      status: "queued",
      attemptNo: 2,
      responseStatusCode: 503,
      sentAt: 1_031_000,
      nextRetryAt: 1_151_000
    })
    const timeline = CallTimeline.make(
      entity,
      inputs,
      events,
      [delivery(events[0]?.id ?? Ids.event("")), failing],
      nothingGone
    )
    const text = CallTimelineText.render(timeline, { states: false })
    for (const line of [
      "ended, normal_clearing by callee, 1 cents (rated)",
      "    +0.000 s  #1  place from=+12025550150 to=+12025550100 customerReference=order 7 timeoutSecs=60",
      "              *  event 1 call.started",
      "                   svc_sub_1: succeeded, attempt 1, at +0.050 s, answer 200",
      "                   svc_sub_1: queued, attempt 2, at +31.000 s, answer 503, again at +151.000 s",
      "    +0.400 s  #2  carrier ringing",
      "                 status initiated -> ringing, legs.0.status initiated -> ringing",
      "    +1.200 s  #4  action play url=https://a.example/b.wav loop=1 targetLegs=self",
      "    +2.000 s  #5  carrier media dtmf digit=•••",
      "              $  charge 1 cents",
      "Replaying the journal gives the stored state and events."
    ])
      expect(text.split("\n")).toContain(line)
  })

  it("cries out in the text when the replay differs", () => {
    const { entity, events, inputs } = stored(scene())
    const state = { ...(entity.state as object), status: "failed" } as Json
    const text = CallTimelineText.render(CallTimeline.make({ ...entity, state }, inputs, events, [], nothingGone), {
      states: true
    })
    expect(text).toContain(
      "!! REPLAYING THE JOURNAL DOES NOT GIVE WHAT IS STORED:\n!! status: replayed ended, stored failed"
    )
  })
})
