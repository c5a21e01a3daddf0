import { describe, expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { Billing } from "../../src/billing/Billing.ts"
import * as Features from "../support/Features.ts"
import * as Service from "../support/SimulatedService.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** Machine detection through HTTP and with simulated phones, guide/detection.md. */
const phones = {
  echo: "+12025550100",
  neverAnswers: "+12025550102",
  voicemail: "+12025550104",
  person: "+12025550111",
  longVoicemail: "+12025550112",
  fax: "+12025550113",
  silent: "+12025550116",
  announcement: "+12025550121",
  intercept: "+12025550122",
  earlyIntercept: "+12025550123"
}
const premium = { answering_machine_detection: "premium" }

class Running extends Context.Service<Running, Effect.Success<ReturnType<typeof Service.start>>>()("test/Running") {}

const running = Layer.effect(Running, Effect.orDie(Service.start("machine-detection"))).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

/** A check costs two cents and a half. */
const tenantOf = Effect.fnUntraced(function* (started: Running["Service"]) {
  yield* Context.get(started.context, Billing).setPrice("machine_detection", 25_000)
  return yield* Service.tenant(started)
})

layer(running, { timeout: "90 seconds", excludeTestServices: true })("Through HTTP, with simulated phones", (it) => {
  describe.concurrent("machine detection", () => {
    const kinds = [
      { who: "a person", to: phones.person, result: "human", detail: "human_residence", beeps: false },
      { who: "a voicemail", to: phones.longVoicemail, result: "machine", detail: "machine", beeps: true },
      { who: "a short voicemail", to: phones.voicemail, result: "machine", detail: "machine", beeps: true },
      { who: "an announcement", to: phones.announcement, result: "machine", detail: "machine", beeps: false },
      { who: "a fax", to: phones.fax, result: "machine", detail: "fax", beeps: false },
      { who: "an intercept", to: phones.intercept, result: "machine", detail: "machine", beeps: false },
      { who: "an early intercept", to: phones.earlyIntercept, result: "machine", detail: "machine", beeps: false },
      { who: "nobody", to: phones.silent, result: "unknown", detail: "silence", beeps: false }
    ]
    it.effect("tells of each kind who answered, with a webhook and on request, and charges one check", () =>
      Effect.gen(function* () {
        const a = yield* tenantOf(yield* Running)
        const seen = yield* Effect.forEach(
          kinds,
          Effect.fnUntraced(function* ({ beeps, to, who }) {
            const id = yield* a.place(to, { ...premium, customer_reference: who })
            expect((yield* a.machine(id)).json).toMatchObject({ status: "pending", result: null, detail: null })
            yield* a.event(id, "call.amd_complete")
            const known = yield* a.machine(id)
            yield* beeps ? a.event(id, "call.amd_complete", ({ data }) => data["beep_detected"] === true) : Effect.void
            yield* a.act(id, "hangup")
            yield* a.until(id, ({ status }) => status === "ended")
            return { id, known: known.json, after: (yield* a.machine(id)).json, events: yield* a.events(id) }
          }),
          { concurrency: "unbounded" }
        )
        for (const [i, { after, events, id, known }] of seen.entries()) {
          const { beeps, detail, result, who } = kinds[i] ?? expect.unreachable()
          const told = events.filter(({ type }) => type === "call.amd_complete")
          const last = { call_id: id, customer_reference: who, result, beep_detected: beeps }
          expect([who, told.at(-1)?.data]).toMatchObject([who, last])
          // Before the end of the call, and never before its answer.
          const types = events.map(({ type }) => type)
          expect(types.indexOf("call.amd_complete")).toBeGreaterThan(types.indexOf("call.answered"))
          expect(types.lastIndexOf("call.amd_complete")).toBeLessThan(types.indexOf("call.ended"))
          expect([who, known]).toMatchObject([who, { call_id: id, mode: "premium", status: "complete", result }])
          expect([who, after]).toMatchObject([who, { status: "complete", result, detail, beep_detected: beeps }])
          expect([who, told.length]).toEqual([who, who === "a voicemail" ? 2 : told.length])
          expect((after as { readonly beep_detected_at: string | null }).beep_detected_at === null).toBe(!beeps)
        }
        expect(yield* a.charges("amd_charge")).toEqual(kinds.map(() => -3))
        expect(yield* Features.ledgerAddsUp).toBe(true)
      })
    )

    it.effect("is over at once where a special information tone came before the answer", () =>
      Effect.gen(function* () {
        const a = yield* tenantOf(yield* Running)
        const id = yield* a.place(phones.earlyIntercept, premium)
        const answered = yield* a.event(id, "call.answered")
        yield* a.event(id, "call.amd_complete")
        const { json } = yield* a.machine(id)
        const at = (json as { readonly detected_at: string }).detected_at
        expect(Date.parse(at) - Date.parse(String(answered.data["answered_at"]))).toBeLessThan(1000)
        yield* a.act(id, "hangup")
      })
    )

    it.effect(
      "is unknown of a call that ends in the middle of it, and of one that nobody answers, which costs nothing",
      () =>
        Effect.gen(function* () {
          const a = yield* tenantOf(yield* Running)
          const id = yield* a.place(phones.silent, premium)
          yield* a.until(id, ({ status }) => status === "answered")
          yield* a.act(id, "hangup")
          const told = yield* a.event(id, "call.amd_complete")
          expect(told.data).toMatchObject({ result: "unknown", beep_detected: false })
          expect((yield* a.machine(id)).json).toMatchObject({
            status: "complete",
            result: "unknown",
            detail: "not_sure"
          })
          expect(yield* a.charges("amd_charge")).toEqual([-3])

          const unanswered = yield* a.place(phones.neverAnswers, premium)
          expect((yield* a.machine(unanswered)).json).toMatchObject({ status: "pending" })
          yield* a.act(unanswered, "hangup")
          yield* a.until(unanswered, ({ status }) => status === "ended")
          expect((yield* a.machine(unanswered)).json).toMatchObject({
            status: "complete",
            result: "unknown",
            detail: "not_sure",
            detected_at: null
          })
          const types = (yield* a.events(unanswered)).map(({ type }) => type)
          expect(types).not.toContain("call.amd_complete")
          expect(yield* a.charges("amd_charge")).toEqual([-3])
        })
    )

    it.effect("is not there where it was not asked for, nor for another workspace", () =>
      Effect.gen(function* () {
        const started = yield* Running
        const [a, b] = [yield* tenantOf(started), yield* tenantOf(started)]
        const plain = yield* a.answered(phones.echo)
        const asked = yield* a.place(phones.silent, premium)
        expect([(yield* a.machine(plain)).status, (yield* b.machine(asked)).status]).toEqual([404, 404])
        for (const wrong of ["on", "detect", true, null])
          expect([wrong, (yield* a.placing(phones.echo, { answering_machine_detection: wrong })).status]).toEqual([
            wrong,
            400
          ])
        yield* a.act(plain, "hangup")
        yield* a.act(asked, "hangup")
        expect((yield* a.events(plain)).map(({ type }) => type)).not.toContain("call.amd_complete")
      })
    )

    it.effect("goes on beside a recording, and on a leg that is transferred", () =>
      Effect.gen(function* () {
        const a = yield* tenantOf(yield* Running)
        const id = yield* a.place(phones.longVoicemail, { ...premium, record: "on_answer" })
        yield* a.until(id, ({ status }) => status === "answered")
        expect((yield* a.act(id, "transfer", { to: phones.silent })).status).toBe(200)
        yield* a.until(id, ({ status }) => status === "bridged")
        const first = yield* a.event(id, "call.amd_complete")
        const call = yield* a.find(id)
        expect(first.data).toMatchObject({ leg_id: call.legs[0]?.id, result: "machine", beep_detected: false })
        yield* a.event(id, "call.amd_complete", ({ data }) => data["beep_detected"] === true)
        yield* a.act(id, "hangup")
        yield* a.until(id, ({ status }) => status === "ended")
        expect((yield* a.machine(id)).json).toMatchObject({ leg_id: call.legs[0]?.id, beep_detected: true })
      })
    )
  })
})
