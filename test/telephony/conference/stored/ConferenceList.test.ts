import { describe, expect, it } from "@effect/vitest"
import { fold } from "../../../../src/telephony/conference/stored/ConferenceList.ts"

describe("names of conferences in whatever case", () => {
  it.each([
    ["Weekly Sales", "SALES"],
    ["ДОМ ёж", "ЁЖ"],
    ["ΟΔΟΣ", "οδοσ"],
    ["ΟΔΟΣ", "οδος"],
    ["Hauptstraße 7", "STRASSE"],
    ["HAUPTSTRASSE 7", "straße"],
    ["Hauptstraße 7", "STRAẞE"],
    ["cafe\u0301", "CAFÉ"],
    ["café", "cafe\u0301"],
    ["İstanbul", "i̇STANBUL"]
  ])("%s is found by %s", (name, part) => {
    expect(fold(name)).toContain(fold(part))
  })

  it("another name is not found", () => {
    expect(fold("café")).not.toContain(fold("cafè"))
  })
})
