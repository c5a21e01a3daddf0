import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { entryTypes } from "../../../src/domain/EntryType.ts"
import * as Statement from "../../../src/money/invoice/Statement.ts"

const Group = Schema.Struct({
  type: Schema.Literals(entryTypes),
  description: Schema.NullOr(Schema.String),
  isIncluded: Schema.Boolean,
  isCorrection: Schema.Boolean,
  isReversal: Schema.Boolean,
  entries: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 })),
  cents: Schema.Int.check(Schema.isBetween({ minimum: -1_000_000, maximum: 1_000_000 }))
})

const total = (lines: ReadonlyArray<Statement.Line>) => lines.reduce((sum, { amountCents }) => sum + amountCents, 0)

describe("a statement (guide/money.md#invoices)", () => {
  it.prop(
    "closes with opening, credits and lines, to the cent, whatever was booked, and however many groups there are",
    {
      opening: Schema.Int.check(Schema.isBetween({ minimum: -1_000_000, maximum: 1_000_000 })),
      made: Schema.Array(Group)
    },
    ({ made, opening }) => {
      const groups = Array.from({ length: made.length < 8 ? 1 : 100 })
        .flatMap(() => made)
        .map((group) => ({ ...group, isDebit: group.cents < 0 }))
      const { closingBalanceCents, credits, lines, subtotalCents } = Statement.of(opening, groups)
      const moved = groups.reduce((sum, { cents }) => sum + cents, 0)
      expect(closingBalanceCents).toBe(opening + moved)
      expect(total(credits) - subtotalCents).toBe(moved)
      expect(total(lines)).toBe(subtotalCents)
      const count = (all: ReadonlyArray<Statement.Line>) => all.reduce((sum, { quantity }) => sum + quantity, 0)
      expect(count(credits) + count(lines)).toBe(groups.reduce((sum, { entries }) => sum + entries, 0))
      expect(Math.max(credits.length, lines.length)).toBeLessThanOrEqual(500 + 8 * entryTypes.length)
    }
  )
})
