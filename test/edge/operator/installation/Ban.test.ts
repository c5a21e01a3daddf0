import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Ban, IngressBans } from "../../../../src/carrier/peer/IngressBans.ts"
import { jsonOf, layer as world, operator } from "../OperatorWorld.ts"

/** An edge that only remembers the bans. */
const edge = Effect.gen(function* () {
  const heard: { bans: ReadonlyArray<Ban>; own: Array<Ban> } = { bans: [], own: [] }
  yield* (yield* IngressBans).register({
    take: (bans) => void (heard.bans = bans),
    automatic: () => heard.own,
    lift: (network) => {
      const left = heard.own.filter((ban) => ban.network !== network)
      const lifted = heard.own.length - left.length
      heard.own = left
      return lifted
    },
    loudest: () => [{ source: "203.0.113.9", messages: 512 }]
  })
  return heard
})

const networks = ({ bans }: { readonly bans: ReadonlyArray<Ban> }) => bans.map(({ network }) => network)

layer(world, { timeout: "60 seconds", excludeTestServices: true })("the operator's bans (guide/sip.md#bans)", (it) => {
  it.effect("hold at once, are listed, and are taken back", () =>
    Effect.gen(function* () {
      const heard = yield* edge
      const added = jsonOf(yield* operator("ban", "add", "198.51.100.77/24", "--reason", "scanner", "--json"))
      expect(added).toMatchObject({ network: "198.51.100.0/24", by: "operator", reason: "scanner", expires_at: null })
      yield* operator("ban", "add", "2001:DB8::1", "--secs", "60")
      expect(networks(heard)).toEqual(["198.51.100.0/24", "2001:db8::1"])
      expect((heard.bans[1]?.expiresAt ?? 0) - (heard.bans[1]?.createdAt ?? 0)).toBe(60_000)
      // Banning the same network again gives one ban with the new reason.
      yield* operator("ban", "add", "198.51.100.0/24", "--reason", "again")
      const { stdout } = yield* operator("ban", "list")
      expect(stdout.match(/198\.51\.100\.0\/24/g)).toHaveLength(1)
      expect(stdout).toContain("again")
      expect(jsonOf(yield* operator("ban", "remove", "198.51.100.9/24", "--json"))).toEqual({ removed: 1 })
      yield* operator("ban", "remove", "2001:db8:0::1")
      expect(networks(heard)).toEqual([])
      const sql = yield* SqlClient.SqlClient
      expect(
        yield* sql`SELECT action, resource_id FROM audit WHERE resource_type = 'ban' AND tenant_id IS NULL ORDER BY ordinal`
          .withoutTransform
      ).toEqual([
        { action: "ban.added", resource_id: "198.51.100.0/24" },
        { action: "ban.added", resource_id: "2001:db8::1" },
        { action: "ban.added", resource_id: "198.51.100.0/24" },
        { action: "ban.removed", resource_id: "198.51.100.0/24" },
        { action: "ban.removed", resource_id: "2001:db8::1" }
      ])
      expect((yield* operator("ban", "remove", "2001:db8::1")).stderr).toContain("is not banned")
    })
  )

  it.effect("are shown with the automatic ones, which are taken back in the same way", () =>
    Effect.gen(function* () {
      const heard = yield* edge
      const own = { network: "203.0.113.9", by: "automatic", reason: "loud", createdAt: 0, expiresAt: 600_000 } as const
      heard.own.push(own)
      const { results } = jsonOf(yield* operator("ban", "list", "--json"))
      expect(results).toMatchObject([
        { network: "203.0.113.9", by: "automatic", expires_at: "1970-01-01T00:10:00.000Z" }
      ])
      expect((yield* operator("ban", "loud")).stdout).toContain("512")
      yield* operator("ban", "remove", "203.0.113.9")
      expect(heard.own).toEqual([])
    })
  )

  it.effect("of another process hold within seconds, and those that stand come to an edge that is new", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const heard = yield* edge
      yield* sql`INSERT INTO ban (network, reason, created_at) VALUES ('192.0.2.0/24', '', now())`
      for (let tries = 0; heard.bans.length === 0 && tries < 2_000; tries++) yield* Effect.sleep(10)
      expect(networks(heard)).toEqual(["192.0.2.0/24"])
      expect(networks(yield* edge)).toEqual(["192.0.2.0/24"])
      yield* operator("ban", "remove", "192.0.2.0/24")
    })
  )

  it.effect("name an address or a network", () =>
    Effect.gen(function* () {
      for (const network of ["x", "10.0.0.0/33", "example.com"])
        expect((yield* operator("ban", "add", network)).stderr).toContain("neither an address nor a network")
      expect((yield* operator("ban", "add", "10.0.0.1", "--secs", "0")).code).toBe(1)
    })
  )
})
