import { describe, expect, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as Id from "../../../src/domain/Id.ts"
import * as DownloadLink from "../../../src/telephony/recording/DownloadLink.ts"

const id = Id.derive("linked", "rec")
const file = `${id}.mp3`
const now = 1_767_225_600_000
const key = (fill: number) => Redacted.make(new Uint8Array(32).fill(fill))
const ring = { current: key(1), earlier: [] }
const linked = (by = ring) => {
  const url = new URL(`https://here${DownloadLink.sign(by, file, now)}`)
  return {
    file: url.pathname.slice(DownloadLink.path.length),
    expires: url.searchParams.get("expires") ?? "",
    signature: url.searchParams.get("signature") ?? ""
  }
}

describe("A link to the file of a recording", () => {
  it("leads to it for ten minutes", () => {
    expect(DownloadLink.check(ring, linked(), now)).toBe(id)
    expect(DownloadLink.check(ring, linked(), now + 599_000)).toBe(id)
    expect(DownloadLink.check(ring, linked(), now + 600_000)).toBe(null)
  })

  it("leads nowhere when a part of it is changed, or another key made it", () => {
    const link = linked()
    const changed = [
      { file: `${Id.derive("other", "rec")}.mp3` },
      { file: `${id}.wav` },
      { file: `${id}.mp3/..` },
      { expires: String(Number(link.expires) + 1) },
      { expires: `0${link.expires}` },
      { expires: "" },
      { signature: "" },
      { signature: link.signature.slice(2) },
      { signature: `${link.signature}00` },
      { signature: link.signature.toUpperCase() },
      { signature: "0".repeat(64) },
      { signature: "é".repeat(64) }
    ]
    for (const change of changed)
      expect([change, DownloadLink.check(ring, { ...link, ...change }, now)]).toStrictEqual([change, null])
    expect(DownloadLink.check({ current: key(2), earlier: [] }, link, now)).toBe(null)
  })

  it("goes on to lead there while the vault's key is replaced", () => {
    expect(DownloadLink.check({ current: key(2), earlier: [key(1)] }, linked(), now)).toBe(id)
  })
})
