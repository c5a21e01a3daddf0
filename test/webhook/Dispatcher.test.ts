import type { ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import { expect, layer } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, References, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { CrashPoint } from "../../src/runtime/process/CrashPoint.ts"
import * as JournalWriter from "../../src/runtime/store/journal/JournalWriter.ts"
import * as Signature from "../../src/webhook/attempt/Signature.ts"
import * as HttpsReceiver from "../support/network/HttpsReceiver.ts"
import * as World from "./WebhookWorld.ts"

const status = (code: number) => (_: unknown, response: ServerResponse) => void response.writeHead(code).end()

const eventIds = (requests: ReadonlyArray<HttpsReceiver.Received>) =>
  requests.map(({ headers }) => headers["x-webhook-event-id"])

layer(World.layer, { timeout: "60 seconds", excludeTestServices: true })("webhook dispatcher", (it) => {
  it.effect("posts the stored bytes with its headers, signed with the subscription's secret", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start((_, response) => response.end("thank you"))
      const tenantId = yield* World.tenant()
      const { id, secret } = yield* World.subscribe(tenantId, receiver.url("/hook?a=b"))
      yield* World.dispatch()
      const event = World.event(tenantId, World.call(), 1)
      yield* World.commit(event)

      const [request] = yield* receiver.arrived(1)
      expect.assert(request !== undefined)
      expect(request.path).toBe("/hook?a=b")
      expect(request.body).toBe(event.body)
      const timestamp = Number(request.headers["x-webhook-timestamp"])
      expect(Math.abs(timestamp - Date.now() / 1000)).toBeLessThanOrEqual(5)
      expect(request.headers["x-webhook-signature"]).toBe(Signature.sign(secret, timestamp, event.body))
      expect(request.headers["x-webhook-event-id"]).toBe(event.id)
      expect(request.headers["content-type"]).toBe("application/json")
      expect(request.headers["user-agent"]).toBe("webhook-platform/0.0.0")

      const [row] = yield* World.rowsWhen(tenantId, World.finished)
      expect(row).toMatchObject({
        subscription_id: id,
        status: "succeeded",
        attempt_no: 1,
        response_status_code: 200,
        response_body_snippet: "thank you",
        error_message: null,
        retries: false,
        sent: true
      })
    })
  )

  it.effect("repeats a 503 with the same body and a fresh signature until it is taken", () =>
    Effect.gen(function* () {
      let answers = 0
      const receiver = yield* HttpsReceiver.start((_, response) => response.writeHead(++answers < 3 ? 503 : 204).end())
      const tenantId = yield* World.tenant()
      const { secret } = yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch({ delaysMs: [1_000, 30] })
      yield* World.commit(World.event(tenantId, World.call(), 1))

      const [waiting] = yield* World.rowsWhen(tenantId, ([row]) => row?.retries === true)
      expect(waiting).toMatchObject({
        status: "queued",
        attempt_no: 1,
        response_status_code: 503,
        retries: true,
        due: true
      })
      const requests = yield* receiver.arrived(3)
      expect(new Set(requests.map(({ body }) => body)).size).toBe(1)
      const signatures = requests.map(({ headers }) => headers["x-webhook-signature"])
      expect(signatures[0]).not.toBe(signatures[1])
      for (const { body, headers } of requests)
        expect(headers["x-webhook-signature"]).toBe(
          Signature.sign(secret, Number(headers["x-webhook-timestamp"]), body)
        )
      const [row] = yield* World.rowsWhen(tenantId, World.finished)
      expect(row).toMatchObject({ status: "succeeded", attempt_no: 3, response_status_code: 204, error_message: null })
    })
  )

  it.effect("gives up after the seventh attempt and keeps the row", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start(status(500))
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch({ delaysMs: [1, 1, 1, 1, 1, 1] })
      yield* World.commit(World.event(tenantId, World.call(), 1))
      const [row] = yield* World.rowsWhen(tenantId, World.finished)
      expect(row).toMatchObject({
        status: "failed",
        attempt_no: 7,
        response_status_code: 500,
        error_message: "the target answered 500",
        retries: false
      })
      expect(receiver.received.length).toBe(7)
    })
  )

  it.effect.each([408, 425, 429])("repeats a %s with Retry-After after it, and ends with one without", (code) =>
    Effect.gen(function* () {
      let answers = 0
      const receiver = yield* HttpsReceiver.start((_, response) => {
        if (++answers === 1) response.setHeader("Retry-After", "1")
        response.writeHead(code).end("slowly")
      })
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch()
      yield* World.commit(World.event(tenantId, World.call(), 1))
      const [waiting] = yield* World.rowsWhen(tenantId, ([row]) => row?.retries === true)
      expect(waiting).toMatchObject({ status: "queued", attempt_no: 1, response_status_code: code })
      const [row] = yield* World.rowsWhen(tenantId, World.finished)
      expect(row).toMatchObject({ status: "failed", attempt_no: 2, error_message: `the target answered ${code}` })
      const [first, second] = receiver.received
      expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990)
    })
  )

  it.effect("shows the words of a body that the receiver compressed", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start((_, response) =>
        response.writeHead(500, { "Content-Encoding": "gzip" }).end(gzipSync("no such tenant"))
      )
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch({ delaysMs: [] })
      yield* World.commit(World.event(tenantId, World.call(), 1))
      const [row] = yield* World.rowsWhen(tenantId, World.finished)
      expect(row?.response_body_snippet).toBe("no such tenant")
    })
  )

  it.effect("follows no redirect and retries it", () =>
    Effect.gen(function* () {
      const elsewhere = yield* HttpsReceiver.start()
      let answers = 0
      const receiver = yield* HttpsReceiver.start((_, response) =>
        ++answers === 1 ? response.writeHead(307, { Location: elsewhere.url() }).end() : response.end()
      )
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch()
      yield* World.commit(World.event(tenantId, World.call(), 1))
      const [row] = yield* World.rowsWhen(tenantId, World.finished)
      expect(row).toMatchObject({ status: "succeeded", attempt_no: 2 })
      expect(elsewhere.received.length).toBe(0)
    })
  )

  it.effect("ends with a 4xx, and hands the event to the failover URL with its own secret", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start(status(410))
      const failover = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant({ url: failover.url("/failover"), secret: "whsec_failover" })
      const { id } = yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch()
      const event = World.event(tenantId, World.call(), 1)
      yield* World.commit(event)

      const [request] = yield* failover.arrived(1)
      const timestamp = Number(request?.headers["x-webhook-timestamp"])
      expect(request?.headers["x-webhook-signature"]).toBe(Signature.sign("whsec_failover", timestamp, event.body))
      const seen = yield* World.rowsWhen(tenantId, (now) => now.length === 2 && World.finished(now))
      expect(seen.map(({ status, subscription_id }) => [subscription_id, status])).toStrictEqual([
        [id, "failed"],
        [null, "succeeded"]
      ])
      expect(receiver.received.length).toBe(1)
    })
  )

  it.effect("sends an event that nobody subscribes to the failover URL at once", () =>
    Effect.gen(function* () {
      const failover = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant({ url: failover.url(), secret: "whsec_failover" })
      yield* World.subscribe(tenantId, failover.url("/never"), ["call.ended"])
      yield* World.dispatch()
      yield* World.commit(World.event(tenantId, World.call(), 1, "call.started"))
      yield* failover.arrived(1, "/")
      expect((yield* World.rowsWhen(tenantId, World.finished))[0]).toMatchObject({ subscription_id: null })
    })
  )

  it.effect("makes one failover delivery when all subscriptions of an event fail at the same moment, none before", () =>
    Effect.gen(function* () {
      const failing = yield* HttpsReceiver.start(status(400))
      const failover = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant({ url: failover.url(), secret: "whsec_failover" })
      for (let index = 0; index < 4; index++) yield* World.subscribe(tenantId, failing.url(`/${index}`))
      yield* World.dispatch()
      const events = Array.from({ length: 10 }, () => World.event(tenantId, World.call(), 1))
      yield* World.commit(...events)
      const seen = yield* World.rowsWhen(tenantId, (now) => now.length === 50 && World.finished(now))
      expect(seen.filter(({ subscription_id }) => subscription_id === null).length).toBe(10)
      expect(new Set(eventIds(failover.received))).toStrictEqual(new Set(events.map(({ id }) => id)))
      expect(failover.received.length).toBe(10)
    })
  )

  it.effect("asks the failover URL nothing while one subscription has the event", () =>
    Effect.gen(function* () {
      const failing = yield* HttpsReceiver.start(status(400))
      const taking = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant({ url: taking.url("/failover"), secret: "whsec_failover" })
      yield* World.subscribe(tenantId, failing.url())
      yield* World.subscribe(tenantId, taking.url("/taken"))
      yield* World.dispatch()
      yield* World.commit(World.event(tenantId, World.call(), 1))
      const seen = yield* World.rowsWhen(tenantId, World.finished)
      expect(seen.map((row) => row.status).sort()).toStrictEqual(["failed", "succeeded"])
    })
  )

  it.effect("starts at the hint of a commit, without waiting for the next look at due rows", () =>
    Effect.gen(function* () {
      const failing = yield* HttpsReceiver.start(status(400))
      const failover = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant({ url: failover.url(), secret: "whsec_failover" })
      yield* World.subscribe(tenantId, failing.url())
      yield* World.dispatch({ pollMs: 60_000 })
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* failover.arrived(1)
      yield* World.rowsWhen(tenantId, World.finished)
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* failover.arrived(2)
    })
  )

  it.effect("tries the events of a call in their order, one at a time, and of 40 calls at most 16 at once", () =>
    Effect.gen(function* () {
      const underWay = new Map<string, number>()
      const mostAtOnce = { ofOneCall: 0, ofAll: 0 }
      const receiver = yield* HttpsReceiver.start(({ body }, response) => {
        const lane: string = JSON.parse(body).data.call_id
        underWay.set(lane, (underWay.get(lane) ?? 0) + 1)
        mostAtOnce.ofOneCall = Math.max(mostAtOnce.ofOneCall, underWay.get(lane) ?? 0)
        mostAtOnce.ofAll = Math.max(
          mostAtOnce.ofAll,
          [...underWay.values()].reduce((sum, count) => sum + count, 0)
        )
        setTimeout(
          () => {
            underWay.set(lane, (underWay.get(lane) ?? 0) - 1)
            response.end()
          },
          Number.parseInt(lane.slice(-1), 16)
        )
      })
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      const calls = Array.from({ length: 40 }, () => World.call())
      const events = (...sequences: ReadonlyArray<number>) =>
        calls.flatMap((id) => sequences.map((sequence) => World.event(tenantId, id, sequence)))
      yield* World.commit(...events(1, 2, 3))
      yield* World.dispatch()
      yield* World.commit(...events(4, 5))
      const requests = yield* receiver.arrived(200)
      const bodies = requests.map(({ body }) => JSON.parse(body))
      for (const id of calls)
        expect(bodies.flatMap((body) => (body.data.call_id === id ? [body.sequence] : []))).toStrictEqual([
          1, 2, 3, 4, 5
        ])
      expect(mostAtOnce.ofOneCall).toBe(1)
      expect(mostAtOnce.ofAll).toBeLessThanOrEqual(16)
      expect(mostAtOnce.ofAll).toBeGreaterThanOrEqual(4)
      yield* World.rowsWhen(tenantId, World.finished)
    })
  )

  it.effect("sends a retry although its lane is busy, and lets later events of its call pass it", () =>
    Effect.gen(function* () {
      const held: Array<() => void> = []
      let answers = 0
      const receiver = yield* HttpsReceiver.start((_, response) => {
        answers++
        if (answers === 2) held.push(() => void response.end())
        else response.writeHead(answers === 1 ? 503 : 200).end()
      })
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch({ delaysMs: [200] })
      const callId = World.call()
      yield* World.commit(World.event(tenantId, callId, 1), World.event(tenantId, callId, 2))
      const requests = yield* receiver.arrived(3)
      expect(requests.map(({ body }) => JSON.parse(body).sequence)).toStrictEqual([1, 2, 1])
      for (const release of held) release()
      yield* World.rowsWhen(tenantId, World.finished)
    })
  )

  it.effect("delays no endpoint because another never answers", () =>
    Effect.gen(function* () {
      const silent = yield* HttpsReceiver.start(() => {})
      const prompt = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, silent.url())
      yield* World.subscribe(tenantId, prompt.url())
      yield* World.dispatch({ drainMs: 0 })
      yield* Effect.forEach(
        Array.from({ length: 60 }, () => World.event(tenantId, World.call(), 1)),
        (event) => World.commit(event),
        { concurrency: 8 }
      )
      yield* prompt.arrived(60)
      expect(silent.received.length).toBe(16)
    })
  )

  it.effect("delays no event of a call because the body of an answer never ends", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start((_, response) => void response.writeHead(200).write("begun"))
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch()
      const callId = World.call()
      yield* World.commit(...[1, 2, 3, 4, 5].map((sequence) => World.event(tenantId, callId, sequence)))
      // One after the other with ten seconds each, they would take longer than the receiver waits for them.
      yield* receiver.arrived(5)
      const seen = yield* World.rowsWhen(tenantId, World.finished)
      for (const row of seen) expect(row).toMatchObject({ status: "succeeded", response_body_snippet: "begun" })
    })
  )

  it.effect("attempts again, as the same attempt, what a process left between request and outcome", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      const callId = World.call()
      const dying = yield* Scope.make()
      yield* World.dispatch({ drainMs: 0 }).pipe(
        Effect.provideService(CrashPoint, (point) => {
          if (point === "mid_delivery") throw new Error("the process dies here")
        }),
        Effect.provideService(References.MinimumLogLevel, "None"),
        Scope.provide(dying)
      )
      yield* World.commit(World.event(tenantId, callId, 1))
      yield* receiver.arrived(1)
      yield* Scope.close(dying, Exit.void)
      expect((yield* World.rows(tenantId))[0]).toMatchObject({ status: "sending", attempt_no: 1, due: true })
      yield* World.commit(World.event(tenantId, callId, 2))

      yield* World.dispatch()
      const requests = yield* receiver.arrived(3)
      expect(requests.map(({ body }) => JSON.parse(body).sequence)).toStrictEqual([1, 1, 2])
      const seen = yield* World.rowsWhen(tenantId, World.finished)
      expect(seen.map(({ attempt_no, status }) => [status, attempt_no])).toStrictEqual([
        ["succeeded", 1],
        ["succeeded", 1]
      ])
    })
  )

  it.effect("finds work that no hint told of, and again after an endpoint stopped", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* World.dispatch({ idleMs: 1 })
      yield* receiver.arrived(1)
      yield* World.rowsWhen(tenantId, World.finished)
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* receiver.arrived(2)
    })
  )

  it.effect("retries after the time that had to pass, though the database's clock is set back by hours", () =>
    Effect.gen(function* () {
      let answers = 0
      const receiver = yield* HttpsReceiver.start((_, response) => {
        response.statusCode = answers++ === 0 ? 503 : 200
        response.end()
      })
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      // The database's clock cannot be set here. Instead, the monotonic one is set forward.
      const clock = yield* Clock.Clock
      let hours = 0n
      const ahead: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() + hours * 3_600_000_000_000n
      })
      yield* Effect.provideService(World.dispatch({ delaysMs: [4.9 * 3_600_000] }), Clock.Clock, ahead)
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* World.rowsWhen(tenantId, ([row]) => row?.retries === true)
      yield* Effect.sleep("100 millis")
      expect(receiver.received.length).toBe(1)
      hours = 5n
      expect((yield* World.rowsWhen(tenantId, World.finished))[0]).toMatchObject({ status: "succeeded", attempt_no: 2 })
    })
  )

  it.effect("retries in time, though the clock was set back before this process took the partition", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      let answers = 0
      const receiver = yield* HttpsReceiver.start((_, response) =>
        response.writeHead(answers++ === 0 ? 503 : 200).end()
      )
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      const first = yield* Scope.make()
      yield* Scope.provide(World.dispatch({ delaysMs: [2 * 3_600_000] }), first)
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* World.rowsWhen(tenantId, ([row]) => row?.retries === true)
      const aheadMs = sql<{ readonly kept: number | null }>`
        SELECT deliveries_ahead_ms AS kept FROM journal_owner ORDER BY partition LIMIT 1`
      const followed = (yield* aheadMs)[0]?.kept
      expect(followed).not.toBeNull()
      yield* Scope.close(first, Exit.void)
      // The database's clock cannot be set here. The row says that it was two hours further.
      yield* sql`UPDATE journal_owner SET deliveries_ahead_ms = deliveries_ahead_ms + 7_200_000`
      yield* World.dispatch()
      expect((yield* World.rowsWhen(tenantId, World.finished))[0]).toMatchObject({ status: "succeeded", attempt_no: 2 })
      expect(Math.abs(((yield* aheadMs)[0]?.kept ?? 0) - (followed ?? 0))).toBeLessThan(5_000)
    })
  )

  it.effect("serves more endpoints than may live at once", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant()
      for (let index = 0; index < 6; index++) yield* World.subscribe(tenantId, receiver.url(`/${index}`))
      yield* World.dispatch({ maxLive: 2, idleMs: 1 })
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* receiver.arrived(6)
    })
  )

  it.effect("sends nothing to a subscription that became inactive, and counts no attempt", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const receiver = yield* HttpsReceiver.start()
      const tenantId = yield* World.tenant()
      const { id } = yield* World.subscribe(tenantId, receiver.url())
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* sql`UPDATE webhook_subscription SET is_active = false WHERE id = ${id}`
      yield* World.dispatch()
      const [row] = yield* World.rowsWhen(tenantId, World.finished)
      expect(row).toMatchObject({ status: "failed", attempt_no: 0, sent: false, response_status_code: null })
      expect(receiver.received.length).toBe(0)
    })
  )

  it.effect("stops retrying when the subscription goes while an attempt is under way", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      let letGo = (): void => {}
      const receiver = yield* HttpsReceiver.start((_, response) => {
        letGo = () => void response.writeHead(500).end()
      })
      const tenantId = yield* World.tenant()
      const { id } = yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch()
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* receiver.arrived(1)
      yield* sql`DELETE FROM webhook_subscription WHERE id = ${id}`
      letGo()
      const [row] = yield* World.rowsWhen(tenantId, World.finished)
      expect(row).toMatchObject({ status: "failed", attempt_no: 1, error_message: "the target answered 500" })
    })
  )

  it.effect("keeps the start of an answer, whatever bytes it is made of", () =>
    Effect.gen(function* () {
      const receiver = yield* HttpsReceiver.start((_, response) =>
        response.end(Buffer.concat([Buffer.from([0x61, 0x00, 0xff]), Buffer.alloc(5_000, "é")]))
      )
      const tenantId = yield* World.tenant()
      yield* World.subscribe(tenantId, receiver.url())
      yield* World.dispatch()
      yield* World.commit(World.event(tenantId, World.call(), 1))
      const [row] = yield* World.rowsWhen(tenantId, World.finished)
      expect(row?.status).toBe("succeeded")
      expect(row?.response_body_snippet ?? "").toMatch(/^a\ufffd\ufffdé{510}$/)
    })
  )

  it.effect("leaves a partition that is lost: what is under way there stops, what comes is the other's", () =>
    Effect.gen(function* () {
      const held: Array<() => void> = []
      const slow = yield* HttpsReceiver.start((_, response) => void held.push(() => void response.end()))
      const quick = yield* HttpsReceiver.start((_, response) => void response.end())
      const stays = yield* World.tenant()
      const goes = yield* World.tenant(undefined, 1)
      yield* World.subscribe(stays, quick.url())
      yield* World.subscribe(goes, slow.url())
      yield* World.dispatch()
      yield* World.commit(World.event(goes, World.call(), 1))
      yield* slow.arrived(1)

      const other = yield* Layer.build(JournalWriter.layer({ partitions: [1], onLost: () => {} }))
      expect(Exit.isFailure(yield* Effect.exit(World.commit(World.event(goes, World.call(), 1))))).toBe(true)
      yield* Effect.provide(World.commit(World.event(goes, World.call(), 1)), other)
      for (const answer of held) answer()
      yield* World.commit(World.event(stays, World.call(), 1))
      yield* World.rowsWhen(stays, World.finished)
      // The dispatcher looks for due rows several times meanwhile.
      yield* Effect.sleep("200 millis")
      expect((yield* World.rows(goes)).map(({ status }) => status)).toStrictEqual(["sending", "queued"])
      expect(slow.received.length).toBe(1)
    }).pipe(Effect.scoped)
  )
})
