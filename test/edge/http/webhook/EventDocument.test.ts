import { describe, expect, it } from "@effect/vitest"
import * as Envelope from "../../../../src/domain/event/Envelope.ts"
import { catalogue, eventTypes } from "../../../../src/domain/event/EventCatalogue.ts"
import * as Document from "../../../../src/edge/http/document/Document.ts"
import * as Signature from "../../../../src/webhook/attempt/Signature.ts"
import * as Ids from "../../../support/Ids.ts"

interface Operation {
  readonly description: string
  readonly tags: ReadonlyArray<string>
  readonly parameters: ReadonlyArray<{ readonly $ref: string }>
  readonly requestBody: {
    readonly content: {
      readonly "application/json": { readonly schema: { readonly $ref: string }; readonly example: unknown }
    }
  }
  readonly responses: Readonly<Record<string, unknown>>
}

interface Body {
  readonly properties: {
    readonly event_type: { readonly enum: unknown }
    readonly data: { readonly properties: object }
  }
  readonly additionalProperties: unknown
}

const { components, tags, webhooks } = JSON.parse(Document.render()) as {
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: {
    readonly parameters: Readonly<
      Record<string, { readonly in: string; readonly schema: { readonly pattern?: string } }>
    >
    readonly schemas: Readonly<Record<string, Body>>
  }
}
const last = (reference: string): string => reference.split("/").at(-1) ?? ""

describe("the webhooks of the published document", () => {
  it("are the events of the catalogue", () => {
    expect(Object.keys(webhooks)).toEqual(eventTypes)
  })

  it.for(eventTypes)("show the envelope of %s with its data, an example, and when it is sent", (type) => {
    const { description, requestBody } = webhooks[type]?.post ?? expect.unreachable()
    const { example, schema } = requestBody.content["application/json"]
    const body = components.schemas[last(schema.$ref)] ?? expect.unreachable()
    expect(body.properties.event_type.enum).toEqual([type])
    expect(Object.keys(body.properties.data.properties)).toEqual(Object.keys(catalogue[type].data.from.fields))
    // Receivers that generate code from it must accept future fields.
    expect(body.additionalProperties).not.toBe(false)
    expect(example).toEqual(Envelope.example(type))
    expect(description).toBe(catalogue[type].when)
  })

  it("name the headers that are sent, the content type among them as the body's", () => {
    const sent = Signature.headers({ secret: "s", eventId: Ids.event("e"), body: "{}", now: 0, version: "0.1.0" })
    const named = Object.keys(sent).filter((name) => name !== "Content-Type")
    expect(Object.keys(components.parameters).toSorted()).toEqual(named.toSorted())
    const pattern = components.parameters["X-Webhook-Signature"]?.schema.pattern ?? expect.unreachable()
    expect(sent["X-Webhook-Signature"]).toMatch(new RegExp(pattern))
    for (const { post } of Object.values(webhooks))
      expect(post.parameters.map(({ $ref }) => last($ref))).toEqual(Object.keys(components.parameters))
  })

  it("explain the signature, what answers mean, and when a delivery is tried again", () => {
    const told = tags.find(({ name }) => name === "Events")?.description ?? ""
    expect(told).toContain("`<X-Webhook-Timestamp>.` followed by the raw body")
    expect(told).toContain("2xx within 10 s")
    expect(told).toContain("30 s, 2 min, 10 min, 1 h, 6 h, 24 h. After attempt 7")
    for (const { post } of Object.values(webhooks)) {
      expect(post.tags).toEqual(["Events"])
      expect(Object.keys(post.responses)).toEqual(["2XX", "4XX", "default"])
    }
  })
})
