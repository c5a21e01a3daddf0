import { describe, expect, it } from "@effect/vitest"
import * as Pagination from "../../../../src/edge/http/answer/Pagination.ts"

describe("A list in memory", () => {
  const all = ["a", "b", "c", "d", "e"]

  it("is read page by page to its end, by number and by cursor", () => {
    expect(Pagination.pageOf(all, { limit: 2, offset: 2 })).toEqual({ count: 5, results: ["c", "d"], next: "4" })
    const read: Array<string> = []
    for (let after: string | null = "0"; after !== null;) {
      const page: ReturnType<typeof Pagination.pageOf<string>> = Pagination.pageOf(all, { limit: 2, offset: 0, after })
      read.push(...page.results)
      after = page.next
    }
    expect(read).toEqual(all)
    expect(Pagination.pageOf(all, { limit: 2, offset: 6 }).results).toEqual([])
  })

  it("refuses a cursor that it did not give", () => {
    expect(() => Pagination.pageOf(all, { limit: 2, offset: 0, after: "-1" })).toThrow(
      expect.objectContaining({ code: "invalid_request", param: "cursor" })
    )
  })
})
