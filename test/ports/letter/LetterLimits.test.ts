import { describe, expect, it } from "@effect/vitest"
import * as Policies from "../../../src/domain/fair/Policies.ts"
import * as LetterLimits from "../../../src/ports/letter/LetterLimits.ts"

const minute = 60_000
const hour = 60 * minute
const letter = (ageMs: number, fields: Partial<LetterLimits.Earlier> = {}): LetterLimits.Earlier => ({
  ageMs,
  isSameMailbox: true,
  isSameWorkspace: false,
  ...fields
})
const several = (count: number, fields: Partial<LetterLimits.Earlier>) =>
  Array.from({ length: count }, (_, nth) => letter((nth + 1) * minute, fields))

describe("the limits of letters, guide/mail.md#limits", () => {
  it("says when the letter that fills a window leaves it, in whatever order they come", () => {
    const earlier = [letter(20 * minute), letter(50 * minute), letter(5 * minute)]
    expect(LetterLimits.waitMs("verification", earlier.slice(1))).toBe(0)
    expect(LetterLimits.waitMs("verification", earlier)).toBe(10 * minute)
    expect(LetterLimits.waitMs("verification", [...earlier, letter(61 * minute)])).toBe(10 * minute)
  })

  it("gives one more reset in four hours when those of the day are used up", () => {
    const day = Array.from({ length: 6 }, (_, nth) => letter((nth + 2) * hour))
    expect(LetterLimits.waitMs("password_reset", day)).toBe(2 * hour)
    expect(
      LetterLimits.waitMs(
        "password_reset",
        day.map((one) => ({ ...one, ageMs: one.ageMs + 2 * hour }))
      )
    ).toBe(0)
  })

  it("counts a mailbox, a workspace and both together, each by itself", () => {
    const here = { isSameMailbox: false, isSameWorkspace: true }
    const there = { isSameMailbox: true, isSameWorkspace: false }
    const both = { isSameMailbox: true, isSameWorkspace: true }
    const isFree = (kind: LetterLimits.Kind, earlier: ReadonlyArray<LetterLimits.Earlier>) =>
      LetterLimits.waitMs(kind, earlier) === 0
    expect([2, 3].map((count) => isFree("invitation", several(count, both)))).toEqual([true, false])
    expect([9, 10].map((count) => isFree("invitation", several(count, there)))).toEqual([true, false])
    expect([99, 100].map((count) => isFree("invitation", several(count, here)))).toEqual([true, false])
    expect([9, 10].map((count) => isFree("invitation_unconfirmed", several(count, here)))).toEqual([true, false])
    expect([99, 100].map((count) => isFree("notice", several(count, there)))).toEqual([true, false])
    expect([9, 10].map((count) => isFree("verification", several(count, here)))).toEqual([true, false])
  })

  it("limits every kind for a mailbox and for a workspace", () => {
    const crowd = several(2_000, { isSameMailbox: false, isSameWorkspace: true })
    const recent = letter(hour, { isSameWorkspace: true })
    for (const kind of Object.keys(Policies.letters) as ReadonlyArray<LetterLimits.Kind>) {
      expect([kind, LetterLimits.waitMs(kind, several(2_000, {})) > 0]).toEqual([kind, true])
      expect([kind, LetterLimits.waitMs(kind, [...crowd, recent]) > 0]).toEqual([kind, true])
    }
  })

  it("leaves a mailbox one reset in four hours, whatever its workspace has used up", () => {
    const crowd = several(200, { isSameMailbox: false, isSameWorkspace: true })
    const own = (ageMs: number) => letter(ageMs, { isSameWorkspace: true })
    expect(LetterLimits.waitMs("password_reset", crowd)).toBe(0)
    expect(LetterLimits.waitMs("password_reset", [...crowd, own(3 * hour)])).toBe(hour)
    expect(LetterLimits.waitMs("password_reset", [...crowd, own(4 * hour)])).toBe(0)
  })
})
