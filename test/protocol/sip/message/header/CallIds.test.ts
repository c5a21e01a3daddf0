import { expect, it } from "@effect/vitest"
import * as CallIds from "../../../../../src/protocol/sip/message/header/CallIds.ts"

it("a Call-ID is in use until it was removed as often as it was added", () => {
  const callIds = CallIds.make()
  for (let each = 0; each < 2; each++) callIds.add("a")
  callIds.remove("a")
  expect([callIds.has("a"), callIds.has("b")]).toEqual([true, false])
  for (let each = 0; each < 2; each++) callIds.remove("a")
  expect(callIds.has("a")).toBe(false)
})
