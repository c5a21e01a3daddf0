import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import type { Body } from "../../src/telephony/verb/Verb.ts"
import * as CallVerbs from "../../src/telephony/call/verb/CallVerbs.ts"
import { catalogue as errors } from "../../src/domain/ErrorCatalogue.ts"
import { catalogue as events, eventTypes } from "../../src/domain/event/EventCatalogue.ts"
import * as Document from "../../src/edge/http/document/Document.ts"
import * as Sample from "../telephony/call/CallSample.ts"
import * as Elsewhere from "./Elsewhere.ts"
import * as Contract from "./Contract.ts"

interface Schematic {
  readonly $ref?: string
  readonly properties?: object
  readonly anyOf?: ReadonlyArray<Schematic>
}
const document = JSON.parse(Document.render()) as {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly post: {
          readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Schematic } } }
        }
      }
    >
  >
  readonly components: { readonly schemas: Readonly<Record<string, Schematic>> }
}

/** The fields that the published body of a path has. */
const published = (path: string): ReadonlyArray<string> => {
  const schema = document.paths[path]?.post.requestBody?.content["application/json"].schema
  const resolved = ({ $ref, anyOf, ...own }: Schematic): Schematic =>
    $ref !== undefined
      ? resolved(document.components.schemas[$ref.split("/").at(-1) ?? ""] ?? {})
      : (anyOf?.map(resolved).find(({ properties }) => properties !== undefined) ?? own)
  return Object.keys(resolved(schema ?? {}).properties ?? {}).toSorted()
}

describe("The tables of what the API promises", () => {
  it("name every verb, and no other", () => {
    expect(Object.keys(Contract.verbs).toSorted()).toEqual(CallVerbs.names.toSorted())
  })

  it("name every event of calls, recordings and streams, each with every field of its data", () => {
    const ofCalls = eventTypes.filter((type) => /^(call|recording|stream)\./.test(type))
    expect(Object.keys(Contract.events).toSorted()).toEqual(ofCalls.toSorted())
    for (const type of ofCalls) {
      const fields = Object.keys(events[type].data.from.fields).filter((field) => field !== "conference_id")
      const optional = type === "stream.failed" ? ["detail"] : []
      expect([type, fields.toSorted()]).toEqual([
        type,
        [...(Contract.events[type]?.data ?? []), ...optional].toSorted()
      ])
    }
  })

  it("are refused by the machine while a call is initiated, where they are not valid then", () => {
    const initiated = Sample.start(Sample.place(), 1_767_225_600_000)
    for (const [verb, { body, in: valid }] of Object.entries(Contract.verbs))
      if (!valid.includes("initiated"))
        expect([verb, Sample.last(Sample.act(initiated, verb as CallVerbs.Built, body, 1_767_225_600_010))]).toEqual([
          verb,
          Contract.refusal("initiated")
        ])
  })

  it("name errors of the catalogue", () => {
    for (const code of Contract.errors) expect(Object.keys(errors)).toContain(code)
  })

  for (const [verb, row] of Object.entries(Contract.verbs)) {
    it(`name every field of ${verb} and its default`, () => {
      const shared = verb === "answer" ? Object.keys(Contract.verbs["streaming_start"]?.fields ?? {}) : []
      expect(published(`/v1/calls/{id}/actions/${verb}`)).toEqual(
        [...new Set([...Object.keys(row.fields), ...shared])].toSorted()
      )
      const body: Body = CallVerbs.table[verb as CallVerbs.Built].body
      const { defaults } = row
      expect(Schema.decodeUnknownSync<Body>(body)(row.body)).toMatchObject(defaults)
    })
  }

  it("name every field of a placed call", () => {
    expect(published("/v1/calls")).toEqual(Object.keys(Contract.placement.fields).toSorted())
  })

  for (const { facts, file, shows, title } of Elsewhere.all)
    it(`lead elsewhere to a test that is there, and shows it: ${file}, ${title}, ${facts.at(-1)}`, () => {
      const text = readFileSync(new URL(`../${file}`, import.meta.url), "utf8")
      expect(text).toContain(title)
      const [test] = text.slice(text.indexOf(title)).split(/\n {2,4}(?:it|describe)\b/u)
      expect(test).toContain(shows)
      for (const fact of facts) expect(Contract.facts()).toContain(fact)
    })
})
