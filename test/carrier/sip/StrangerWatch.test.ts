import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { readFileSync } from "node:fs"
import * as SipParser from "../../../src/protocol/sip/message/SipParser.ts"
import * as StrangerWatch from "../../../src/carrier/sip/StrangerWatch.ts"
import { Result } from "effect"
import * as SipSample from "../../support/fake/SipSample.ts"
import * as Rig from "./Rig.ts"

/** The expressions of the guide's filter, as fail2ban applies them after the date. */
const filter = (): { readonly fail: ReadonlyArray<RegExp>; readonly date: RegExp } => {
  const page = readFileSync(new URL("../../../src/guide/sip.md", import.meta.url), "utf8")
  const [, block = ""] = /```ini\n([^`]*)```/.exec(page) ?? []
  const expressions = [...block.matchAll(/^(?:failregex =|\s{12})\s*(\^.*)$/gm)].map(([, text = ""]) => text)
  const [, pattern = ""] = /^datepattern = (.*)$/m.exec(block) ?? []
  const parts: Readonly<Record<string, string>> = {
    Y: "\\d{4}",
    m: "\\d{2}",
    d: "\\d{2}",
    H: "\\d{2}",
    M: "\\d{2}",
    S: "\\d{2}",
    f: "\\d+",
    z: "(?:Z|[+-]\\d{2}:?\\d{2})"
  }
  return {
    fail: expressions.map((text) => new RegExp(text.replace("<HOST>", "(?<host>[0-9a-fA-F.:]+)"))),
    date: new RegExp(pattern.replace(/%%([A-Za-z])/g, (_, part: string) => parts[part] ?? "?"))
  }
}

/** The address that fail2ban would take from the line; null for none. */
const bannedBy = (line: string): string | null => {
  const { date, fail } = filter()
  expect(line).toMatch(date)
  const rest = line.replace(date, "")
  return fail.map((each) => each.exec(rest)?.groups?.["host"] ?? null).find((host) => host !== null) ?? null
}

const watched = Effect.gen(function* () {
  const lines: Array<string> = []
  const logger = Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))
  const watch = yield* StrangerWatch.make.pipe(Effect.provide(Logger.layer([logger])))
  return { watch, lines: () => Effect.as(Rig.pass(1), undefined).pipe(Effect.map(() => lines.splice(0))) }
})

const from = (address: string) => SipSample.flow({ address, port: 5_090 })

const request = (text: string) => {
  const message = Result.getOrThrow(SipParser.parse(new TextEncoder().encode(text)))
  return message.type === "request" ? message : expect.fail("no request")
}

const hostile = request(
  'INVITE sip:00442079460123@192.0.2.1 SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bK1" source=192.0.2.99 \r\n' +
    'From: "level=WARN message=\\"SIP stranger banned\\" source=192.0.2.99" <sip:a@b>;tag=1\r\nTo: <sip:1@b>\r\n' +
    "Call-ID: source=192.0.2.99\r\nCSeq: 1 INVITE\r\nUser-Agent: source=192.0.2.99\r\n\r\n"
)

describe("the security log (guide/sip.md#security-log)", () => {
  it.effect("has a line that fail2ban reads, of both families, with nothing that the stranger wrote", () =>
    Effect.gen(function* () {
      const { lines, watch } = yield* watched
      watch.sighted({ type: "refused", status: 403, request: hostile, from: from("203.0.113.7") })
      watch.sighted({ type: "unread", why: "flood", from: from("2001:db8::7") })
      watch.banned("203.0.113.8", "203.0.113.8", 401)
      watch.banned("2001:db8::/64", "2001:db8::8", 401)
      const [refused = "", unread = "", banned = "", bannedNetwork = ""] = yield* lines()
      expect(refused).toMatch(
        / source=203\.0\.113\.7 port=5090 method=INVITE status=403 why=stranger to=\+442079460123 messages=1$/
      )
      expect(refused).not.toContain("192.0.2.99")
      expect(unread).toMatch(/method=unread status=none why=flood to=none messages=1$/)
      expect([refused, unread, banned].map(bannedBy)).toEqual(["203.0.113.7", "2001:db8::7", "203.0.113.8"])
      expect(bannedNetwork).toContain(" network=2001:db8::/64 ")
      expect(bannedBy(bannedNetwork)).toBe("2001:db8::8")
      expect(bannedBy(refused.replace("WARN", "INFO"))).toBe(null)
    })
  )

  it.effect("tells of a trunk that floods, which fail2ban must not ban, also while strangers use up the lines", () =>
    Effect.gen(function* () {
      const { lines, watch } = yield* watched
      for (let each = 0; each < 1_000; each++)
        watch.sighted({ type: "unread", why: "flood", from: from(`10.0.${each >> 8}.${each & 255}`) })
      yield* lines()
      for (let each = 0; each < 10; each++)
        watch.sighted({ type: "unread", why: "peer flood", from: from("203.0.113.7") })
      const told = yield* lines()
      expect(told).toHaveLength(1)
      expect(told[0]).toMatch(/message="SIP messages of a trunk .* source=203\.0\.113\.7 messages=1$/)
      expect(bannedBy(told[0] ?? "")).toBe(null)
    })
  )

  it.effect("has a line a second for each source and ten a second in all, and counts what is beyond", () =>
    Effect.gen(function* () {
      const { lines, watch } = yield* watched
      for (let each = 0; each < 1_000; each++)
        watch.sighted({ type: "unread", why: "flood", from: from("203.0.113.7") })
      expect(yield* lines()).toHaveLength(1)
      yield* Rig.pass(1_000)
      watch.sighted({ type: "unread", why: "flood", from: from("203.0.113.7") })
      expect((yield* lines())[0]).toContain("messages=1000")
      for (let each = 0; each < 10_000; each++)
        watch.sighted({ type: "unread", why: "flood", from: from(`10.0.${each >> 8}.${each & 255}`) })
      const crowd = yield* lines()
      expect(crowd.length).toBeLessThanOrEqual(60)
      yield* Rig.pass(10_000)
      const summary = (yield* lines()).join("\n")
      expect(summary).toContain("beyond the lines of this log")
      expect(Number(/messages=(\d+)/.exec(summary)?.[1])).toBe(10_000 - crowd.length)
    })
  )
})
