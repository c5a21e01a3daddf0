import { describe, expect, it } from "@effect/vitest"
import * as DatabaseCheck from "../../../src/app/boot/DatabaseCheck.ts"
import type { Facts, Pooling, Server } from "../../../src/runtime/store/postgres/DatabaseFacts.ts"

const facts = (server: Partial<Server> = {}, pooling: Partial<Pooling> = {}): Facts => ({
  pooling: { ours: [1, 1, 1], others: [2, 2, 2], leaks: false, ...pooling },
  server: {
    version: 180_004,
    encoding: "UTF8",
    isStandby: false,
    unsettled: [],
    locksExclude: true,
    schema: "public",
    mayCreate: true,
    foreignOwner: null,
    unsafe: [],
    connections: 97,
    role: "phones",
    database: "phones",
    ...server
  }
})

describe("The check of a database at the start", () => {
  it("takes a Postgres", () => {
    expect(DatabaseCheck.refusal(facts())).toBeNull()
    expect(DatabaseCheck.warnings(facts())).toEqual([])
  })

  const refused: ReadonlyArray<readonly [what: string, facts: Facts, message: RegExp]> = [
    ["two connections in one session", facts({}, { others: [1, 1, 1] }), /pool_mode = session/],
    ["one connection in several sessions", facts({}, { ours: [1, 3, 1] }), /pool_mode = session/],
    ["another connection in several sessions", facts({}, { others: [2, 2, 4] }), /pool_mode = session/],
    ["sessions that keep what their last user set", facts({}, { leaks: true }), /server_reset_query = DISCARD ALL/],
    ["an old version", facts({ version: 130_012 }), /Postgres 13: upgrade it to 14/],
    ["a standby", facts({ isStandby: true }), /standby.*name the primary, or promote it/],
    ["another encoding", facts({ encoding: "SQL_ASCII" }), /SQL_ASCII: create one with ENCODING 'UTF8'/],
    [
      "settings that do not hold",
      facts({ unsettled: ["lock_timeout"] }),
      /does not keep its settings \(lock_timeout\)/
    ],
    ["locks that do not exclude", facts({ locksExclude: false }), /same advisory lock/],
    ["no schema", facts({ schema: null, mayCreate: false }), /ALTER ROLE phones SET search_path/],
    ["no right to create", facts({ mayCreate: false }), /GRANT CREATE ON SCHEMA public TO phones/],
    ["tables of another role", facts({ foreignOwner: "admin" }), /GRANT admin TO phones/],
    ["a server that is not asked", { ...facts(), server: null }, /name a Postgres/]
  ]
  for (const [what, given, message] of refused)
    it(`refuses ${what}, in one sentence that says what to do`, () => {
      expect(DatabaseCheck.refusal(given)).toMatch(message)
      expect(DatabaseCheck.refusal(given)).not.toMatch(/\n/)
    })

  it("warns of settings that lose commits, and of few connections", () => {
    const warned = DatabaseCheck.warnings(facts({ unsafe: ["fsync"], connections: 20 }))
    expect(warned).toHaveLength(2)
    expect(warned.join()).toMatch(/fsync is off.*20 connections/)
    expect(DatabaseCheck.refusal(facts({ unsafe: ["fsync"], connections: 20 }))).toBeNull()
  })
})
