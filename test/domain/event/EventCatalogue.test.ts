import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { globSync } from "node:fs"
import * as Envelope from "../../../src/domain/event/Envelope.ts"
import { catalogue, eventTypes, isEventType, type PublicEvent } from "../../../src/domain/event/EventCatalogue.ts"
import * as Ids from "../../support/Ids.ts"
import * as SeenEvent from "../../support/SeenEvent.ts"

const head = {
  eventId: Ids.event("0b5c2a4e-6d1f-8a3b-9c0d-1e2f3a4b5c6d"),
  occurredAt: 1_767_225_600_000,
  sequence: 3
}

const ringing = {
  type: "call.ringing",
  data: {
    callId: Ids.call(`svc_call_${"0".repeat(32)}`),
    legId: Ids.leg(`svc_leg_${"1".repeat(32)}`),
    customerReference: null,
    ringingAt: 1_767_225_600_000
  }
} as const

describe("The catalogue of events", () => {
  it("holds the rows of every family's file", async () => {
    const folder = new URL("../../../src/domain/event/", import.meta.url)
    const files: Array<string> = []
    for (const file of globSync("*Event.ts", { cwd: folder })) {
      const { rows }: { readonly rows?: object } = await import(new URL(file, folder).href)
      if (rows === undefined) continue
      files.push(file)
      for (const type of Object.keys(rows)) expect(isEventType(type), `${file}: ${type}`).toBe(true)
    }
    expect(files.length).toBe(6)
  })

  it("keeps every name that was ever published", () => {
    const published =
      "call.started call.ringing call.answered call.bridged call.ended call.dtmf call.gather_complete call.playback_ended " +
      "call.amd_complete call.transcript_chunk recording.completed recording.failed stream.started stream.stopped " +
      "stream.failed conference.started conference.ended conference.member_joined conference.member_left " +
      "conference.member_muted conference.member_unmuted conference.member_speaking_started " +
      "conference.member_speaking_ended conference.member_held conference.member_unheld " +
      "conference.member_role_changed number_order.completed number_order.failed webhook.test"
    for (const type of published.split(" ")) expect(isEventType(type), type).toBe(true)
  })

  it("does not take what every object has for an event", () => {
    for (const name of ["toString", "__proto__", "constructor"]) expect(isEventType(name)).toBe(false)
  })

  it.each([
    ["call.dtmf", "digit"],
    ["call.gather_complete", "digits"],
    ["call.transcript_chunk", "transcript"],
    ["call.transcript_chunk", "word"]
  ] as const)("shows what was pressed and said to nobody but the tenant: %s, %s", (type, field) => {
    const { data } = Envelope.example(type)
    expect(JSON.stringify(data)).toContain(`"${field}":`)
    expect(JSON.stringify(data)).not.toContain(`"${field}":"•••"`)
    expect(JSON.stringify(Envelope.masked(type, data))).toContain(`"${field}":"•••"`)
  })

  for (const type of eventTypes)
    describe(type, () => {
      const { data, when } = catalogue[type]

      it("says when it is sent, in sentences", () => expect(when).toMatch(/^[A-Z].*\.$/))

      it("describes each field of its data, with an example", () => {
        for (const [name, field] of Object.entries(data.from.fields)) {
          const { description, examples } = Schema.resolveAnnotations(field) ?? {}
          expect(String(description), name).toMatch(/^.*\.$/)
          expect(examples?.length, name).toBe(1)
        }
      })

      it("has an example that is as its own schema says", () => {
        const decode = Schema.decodeUnknownSync(Envelope.schemaOf(type), { onExcessProperty: "error" })
        expect(decode(Envelope.example(type)).eventType).toBe(type)
      })
    })
})

describe("The envelope", () => {
  it("holds id, name, time, sequence and data, in this order", () => {
    expect(Envelope.render(ringing, head)).toBe(
      `{"event_id":"${head.eventId}","event_type":"call.ringing","occurred_at":"2026-01-01T00:00:00.000Z","sequence":3,` +
        `"data":{"call_id":"${ringing.data.callId}","leg_id":"${ringing.data.legId}","customer_reference":null,` +
        `"ringing_at":"2026-01-01T00:00:00.000Z"}}`
    )
  })
})

describe("What may be emitted", () => {
  it("is what has a row, for the compiler", () => {
    const emit = (event: PublicEvent) => event.type
    emit(ringing)
    // @ts-expect-error there is no such event
    emit({ type: "call.exploded", data: ringing.data })
    // @ts-expect-error a field is missing
    emit({ type: "call.answered", data: ringing.data })
  })

  it("has the fields of its row, no more and no less, for the tests", () => {
    const { ringingAt: _, ...less } = ringing.data
    SeenEvent.check([ringing])
    SeenEvent.checkBody(Envelope.render(ringing, head))
    expect(() => SeenEvent.check([{ ...ringing, data: less }])).toThrow(/ringingAt/)
    expect(() => SeenEvent.check([{ ...ringing, data: { ...ringing.data, secret: "s" } }])).toThrow(/secret/)
    expect(() => SeenEvent.check([{ ...ringing, type: "call.exploded" }])).toThrow(/no event/)
    const more = JSON.stringify({ ...JSON.parse(Envelope.render(ringing, head)), tenant_id: "t" })
    expect(() => SeenEvent.checkBody(more)).toThrow(/tenant_id/)
    expect(() => SeenEvent.checkBody(Envelope.render(ringing, { ...head, sequence: 0 }))).toThrow(/sequence/)
  })
})
