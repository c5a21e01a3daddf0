import type { ServerResponse } from "node:http"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Id from "../../src/domain/Id.ts"
import type { EmittedByConference } from "../../src/domain/event/EventCatalogue.ts"
import { Jobs } from "../../src/runtime/job/Jobs.ts"
import * as EventRecord from "../../src/runtime/store/journal/EventRecord.ts"
import { Webhooks } from "../../src/webhook/Webhook.ts"
import * as HttpsReceiver from "../support/network/HttpsReceiver.ts"
import * as Ids from "../support/Ids.ts"
import * as World from "./WebhookWorld.ts"

const overtaken = "overtaken by a newer event of the same member"

/** A room whose events are numbered as they are made. */
const room = (tenantId: Id.TenantId) => {
  const conferenceId = World.conference()
  let sequence = 0
  const make = (event: EmittedByConference) =>
    EventRecord.make(
      { tenantId, entityId: conferenceId, routeId: null, occurredAt: 1_767_225_600_000 + sequence },
      ++sequence,
      event
    )
  const callId = Id.derive(conferenceId, "call")
  const ofRoom = { conferenceId, callId, legId: Id.derive(callId, "leg"), customerReference: null }
  const data = (name: string) => {
    const memberId = Id.derive(`${conferenceId} ${name}`, "member")
    return { ...ofRoom, memberId, callId: Id.derive(memberId, "call") }
  }
  return {
    speaks: (name: string, starts: boolean) =>
      make({ type: `conference.member_speaking_${starts ? "started" : "ended"}`, data: data(name) }),
    joined: (name: string) =>
      make({ type: "conference.member_joined", data: { ...data(name), role: "participant", joinedAt: 0 } }),
    left: (name: string) =>
      make({
        type: "conference.member_left",
        data: { ...data(name), role: "participant", leftAt: 0, reason: "moved" }
      }),
    ended: () => make({ type: "conference.ended", data: { ...ofRoom, endedAt: 0, durationSeconds: 1, reason: "api" } })
  }
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `member ${index}`)

const sequencesOf = (requests: ReadonlyArray<HttpsReceiver.Received>): ReadonlyArray<number> =>
  requests.map(({ body }) => JSON.parse(body).sequence)

const live = Webhooks.layer({
  ownsConnection: () => Effect.succeed(false),
  subscriptionLimit: () => Effect.succeed(50)
}).pipe(Layer.provideMerge(Jobs.layer()), Layer.provideMerge(World.layer))

const callerOf = (tenantId: Id.TenantId) => ({
  tenantId,
  keyId: Ids.apiKey("00000000-0000-4000-8000-000000000001"),
  member: null,
  name: "Default",
  ip: "192.0.2.1"
})

layer(live, { timeout: "60 seconds", excludeTestServices: true })("events of a room", (it) => {
  it.effect("delivers a member's joining although no speaking event of twelve others is answered", () =>
    Effect.gen(function* () {
      const held: Array<ServerResponse> = []
      const receiver = yield* HttpsReceiver.start(({ body }, response) => {
        if (JSON.parse(body).event_type === "conference.member_joined") response.end()
        else held.push(response)
      })
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch({ drainMs: 0 })
      const of = room(tenantId)
      for (const starts of [true, false, true]) yield* World.commit(...names(12).map((name) => of.speaks(name, starts)))
      yield* World.commit(of.joined("late"))
      yield* HttpsReceiver.eventually(
        () => receiver.received.some(({ body }) => JSON.parse(body).event_type === "conference.member_joined"),
        () => undefined
      )
      expect(held.length).toBeLessThanOrEqual(12)
    })
  )

  it.effect(
    "sends the newest speaking event of a member when the one before it is answered, and drops the others",
    () =>
      Effect.gen(function* () {
        const held: Array<ServerResponse> = []
        const receiver = yield* HttpsReceiver.start((_, response) => {
          if (held.length === 0) held.push(response)
          else response.end()
        })
        const failover = yield* HttpsReceiver.start()
        const tenantId = yield* World.tenant({ url: failover.url(), secret: "whsec_failover" })
        yield* World.subscribe(tenantId, receiver.url())
        yield* World.dispatch()
        const of = room(tenantId)
        yield* World.commit(of.speaks("a", true))
        yield* receiver.arrived(1)
        for (const starts of [false, true, false, true, false]) yield* World.commit(of.speaks("a", starts))
        held[0]?.end()
        yield* receiver.arrived(2)
        const rows = yield* World.rowsWhen(tenantId, World.finished)
        expect(sequencesOf(receiver.received)).toStrictEqual([1, 6])
        expect(rows.map(({ attempt_no, error_message, status }) => [status, attempt_no, error_message])).toStrictEqual([
          ["succeeded", 1, null],
          ...Array.from({ length: 4 }, () => ["failed", 0, overtaken]),
          ["succeeded", 1, null]
        ])
        // Nothing failed, so the failover URL gets nothing.
        expect(failover.received).toStrictEqual([])
      })
  )

  it.effect("repeats no speaking event that a newer one to the same endpoint has overtaken", () =>
    Effect.gen(function* () {
      let answers = 0
      const receiver = yield* HttpsReceiver.start((_, response) =>
        response.writeHead(++answers === 1 ? 503 : 200).end()
      )
      const starts = yield* HttpsReceiver.start((_, response) => response.writeHead(answers < 2 ? 503 : 200).end())
      const tenantId = yield* World.tenant()
      const { id } = yield* World.subscribe(tenantId, receiver.url())
      yield* World.subscribe(tenantId, starts.url(), ["conference.member_speaking_started"])
      yield* World.dispatch({ delaysMs: [500, 30] })
      const of = room(tenantId)
      yield* World.commit(of.speaks("a", true))
      yield* World.rowsWhen(tenantId, (rows) => rows.length === 2 && rows.every(({ retries }) => retries))
      yield* World.commit(of.speaks("a", false))
      const rows = yield* World.rowsWhen(tenantId, World.finished)
      expect(sequencesOf(receiver.received)).toStrictEqual([1, 2])
      expect(
        rows.flatMap(({ error_message, status, subscription_id }) =>
          subscription_id === id ? [[status, error_message]] : []
        )
      ).toStrictEqual([
        ["failed", overtaken],
        ["succeeded", null]
      ])
      // The end of the speaking goes to no endpoint that does not want it, so it overtakes nothing there.
      expect(sequencesOf(starts.received)).toStrictEqual([1, 1])
    })
  )

  it.effect("repeats an overtaken event where that delivery is requested, and not with a range", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const jobs = yield* Jobs
      const held: Array<ServerResponse> = []
      const receiver = yield* HttpsReceiver.start((_, response) => {
        if (held.length === 0) held.push(response)
        else response.end()
      })
      const tenantId = yield* World.tenant()
      const { id } = yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch()
      const of = room(tenantId)
      yield* World.commit(of.speaks("a", true))
      yield* receiver.arrived(1)
      for (const starts of [false, true]) yield* World.commit(of.speaks("a", starts))
      held[0]?.end()
      const rows = yield* World.rowsWhen(tenantId, World.finished)
      const range = { createdAfterMs: null, createdBeforeMs: null, status: "failed" } as const
      yield* webhooks.redeliverRange(callerOf(tenantId), id, range, null)
      yield* jobs.poll
      expect((yield* World.rows(tenantId)).map(({ status }) => status)).toStrictEqual([
        "succeeded",
        "failed",
        "succeeded"
      ])
      yield* webhooks.redeliver(callerOf(tenantId), Ids.delivery(rows[1]?.id ?? ""), null)
      yield* receiver.arrived(3)
      expect(sequencesOf(receiver.received)).toStrictEqual([1, 3, 2])
      yield* World.rowsWhen(tenantId, World.finished)
    })
  )

  it.effect.each([
    [1, 60],
    [3, 30]
  ] as const)("sends the end of a room beside each other, each member's in order, to %s", ([count, members]) =>
    Effect.gen(function* () {
      let underWay = 0
      let most = 0
      const receiver = yield* HttpsReceiver.start((_, response) => {
        most = Math.max(most, ++underWay)
        setTimeout(() => {
          underWay--
          response.end()
        }, 20)
      })
      const tenantId = yield* World.tenant()
      for (let index = 0; index < count; index++) yield* World.subscribe(tenantId, receiver.url(`/${index}`))
      yield* World.dispatch()
      const of = room(tenantId)
      const joins = names(members).map(of.joined)
      yield* World.commit(...joins, ...names(members).map(of.left), of.ended())
      yield* receiver.arrived((2 * members + 1) * count)
      expect(most).toBeGreaterThanOrEqual(8)
      for (let index = 0; index < count; index++) {
        const events = (yield* receiver.arrived(2 * members + 1, `/${index}`)).map(({ body }) => JSON.parse(body))
        for (const [, each] of Map.groupBy(events, ({ data }) => data.member_id))
          expect(each.map(({ sequence }) => sequence)).toStrictEqual(
            each.map(({ sequence }) => sequence).toSorted((one, other) => one - other)
          )
      }
      yield* World.rowsWhen(tenantId, World.finished)
    })
  )
})
