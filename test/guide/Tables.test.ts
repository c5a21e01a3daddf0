import { describe, expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import * as EndReason from "../../src/telephony/call/machine/EndReason.ts"
import { catalogue } from "../../src/domain/ErrorCatalogue.ts"
import * as EndWhy from "../../src/domain/EndWhy.ts"
import * as CallEvent from "../../src/domain/event/CallEvent.ts"
import { catalogue as events, eventTypes, isEventType } from "../../src/domain/event/EventCatalogue.ts"
import { endpointScopes } from "../../src/domain/Scope.ts"
import * as RetryPolicy from "../../src/webhook/attempt/RetryPolicy.ts"

/** The tables of the guide agree with the tables of the code. */

const isRow = (line: string): boolean => line.startsWith("| ")
/** The line between the header of a table and its rows. */
const isRule = (line: string): boolean => /^\| ?-/.test(line)

/** The cells of every table row, headers left out, below a heading: down to the next heading of its depth or above. */
const rowsOf = (page: string, heading?: string): ReadonlyArray<ReadonlyArray<string>> => {
  const text = readFileSync(new URL(`../../src/guide/${page}.md`, import.meta.url), "utf8")
  const [mark = "", from] = heading === undefined ? ["", 0] : [/^#+/.exec(heading)?.[0], text.indexOf(`\n${heading}\n`)]
  if (from < 0) throw new Error(`${page} has no "${heading}"`)
  const rest = text.slice(from + (heading?.length ?? 0) + 1)
  const end = mark === "" ? -1 : rest.search(new RegExp(`^#{1,${mark.length}} `, "m"))
  return (end === -1 ? rest : rest.slice(0, end))
    .split("\n")
    .filter((line, index, lines) => isRow(line) && !isRule(line) && !isRule(lines[index + 1] ?? ""))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim())
    )
}

/** The `words` in code marks of a cell. */
const named = (cell = ""): ReadonlyArray<string> => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word)

describe("the guide's tables", () => {
  it("name every error code with its status", () => {
    const told = new Map<string, number>()
    for (const [status = "", codes] of rowsOf("errors", "## Codes"))
      for (const code of named(codes)) told.set(code, Number(status))
    // No endpoint answers this one: an unknown conference is `not_found`.
    const { conference_not_found: _, ...answered } = catalogue
    expect(Object.fromEntries(told)).toEqual(answered)
  })

  it("name every scope", () => {
    const told = rowsOf("authentication", "## Scopes").flatMap(([, scopes]) => named(scopes))
    expect(told.toSorted()).toEqual([...endpointScopes].sort())
  })

  const eventsBelow = (heading: string) =>
    rowsOf("webhooks", heading).flatMap(([names, , data]) =>
      named(names)
        .filter(isEventType)
        .map((type) => ({ type, data: named(data) }))
    )

  it("name every event", () => {
    const types = eventsBelow("## Events").map(({ type }) => type)
    expect(types.sort()).toEqual([...eventTypes].sort())
  })

  it("name every field of every event", () => {
    const common = {
      call: ["call_id", "leg_id", "customer_reference"],
      stream: ["call_id", "leg_id", "customer_reference", "stream_id", "stream_url", "stream_track", "stream_codec"],
      recording: ["call_id", "conference_id", "recording_id", "channels", "format", "customer_reference"],
      conference: ["conference_id", "member_id", "call_id", "leg_id", "customer_reference"],
      number_order: ["order_id", "status", "country_code", "number_type", "phone_numbers", "total_cents"]
    }
    for (const { data, type } of eventsBelow("## Events")) {
      const ofFamily = type.startsWith("call.")
        ? common.call
        : type.startsWith("stream.")
          ? common.stream
          : type.startsWith("recording.")
            ? common.recording
            : type.startsWith("conference.")
              ? common.conference
              : common.number_order
      const missing = Object.keys(events[type].data.from.fields).filter(
        (field) => ![...ofFamily, ...data].includes(field)
      )
      expect([type, missing]).toEqual([type, []])
    }
  })

  it("name every end reason and everybody who can have ended a call", () => {
    const causes = new Set(rowsOf("calls", "### Causes"))
    const rows = rowsOf("calls", "## Why a call ended").slice(0, -causes.size)
    const { endInitiator, endReason } = CallEvent.rows["call.ended"].data.to.fields
    const column = (index: number) => new Set(rows.flatMap((row) => named(row[index])))
    expect(column(2)).toEqual(new Set(endReason.literals))
    expect(column(3)).toEqual(new Set(endInitiator.literals))
  })

  it("name every cause of an end, in the order of the code", () => {
    const told = rowsOf("calls", "### Causes").flatMap(([code]) => named(code))
    expect(told).toEqual(EndWhy.Code.literals)
  })

  it("say what each final answer of SIP makes of a call", () => {
    const call = { direction: "outbound", answered: false } as const
    const rows = rowsOf("sip", "## Answers").filter(([statuses]) => /^[\d, ]+$/.test(statuses ?? ""))
    expect(rows.length).toBeGreaterThan(0)
    for (const [statuses = "", reason, status] of rows)
      for (const sipStatus of statuses.split(", ").map(Number)) {
        const ending = EndReason.ofLeg({ cause: "final_response", sipStatus, by: "far" }, call)
        expect([sipStatus, ending.reason, ending.status]).toEqual([sipStatus, named(reason)[0], named(status)[0]])
      }
  })

  it("say when each attempt at a delivery is made", () => {
    const unit: Readonly<Record<string, number>> = { second: 1_000, minute: 60_000, hour: 3_600_000 }
    const told = rowsOf("webhooks", "## Deliveries").flatMap(([attempt = "", after = ""]) => {
      const [, count, name = ""] = /^(\d+) (second|minute|hour)s?$/.exec(after) ?? []
      return /^\d+$/.test(attempt) ? [Number(count) * (unit[name] ?? Number.NaN)] : []
    })
    expect(told).toEqual(RetryPolicy.schedule)
  })
})
