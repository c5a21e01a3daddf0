import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../../../src/domain/Id.ts"
import { type Commit, empty, Journal } from "../../../../src/runtime/store/journal/Journal.ts"
import * as JournalWriter from "../../../../src/runtime/store/journal/JournalWriter.ts"
import * as ListTable from "../../../../src/runtime/store/list/ListTable.ts"
import * as Ids from "../../../support/Ids.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

/** A feature that the store does not know. */
interface Parcel {
  readonly id: Id.CallId
  readonly tenantId: Id.TenantId
  readonly weight: number
  readonly priceCents: number | null
  readonly sentAt: number
  readonly note: "fragile" | null
  readonly seal: string
}

const ParcelList = ListTable.of<Parcel>()("parcel", {
  id: ListTable.text((parcel) => parcel.id),
  tenantId: ListTable.uuid((parcel) => parcel.tenantId),
  weightGrams: ListTable.int((parcel) => parcel.weight),
  priceCents: ListTable.bigint((parcel) => parcel.priceCents),
  sentAt: ListTable.time((parcel) => parcel.sentAt),
  note: ListTable.text((parcel) => parcel.note)
})

const tenantId = Id.deriveUuid("list table", "tenant")
const parcel = (n: number): Parcel => ({
  id: Ids.call(`parcel ${n}`),
  tenantId,
  weight: 1_200 + n,
  priceCents: null,
  sentAt: 1_700_000_000_123,
  note: "fragile",
  seal: "unbroken"
})

const entity = (id: Id.CallId, seq = 1): Commit["entities"][number] => ({
  id,
  kind: "call",
  tenantId,
  seq,
  settled: true,
  stateVersion: 1,
  state: {},
  input: { at: 1_700_000_000_000, seed: "s", machineVersion: 1, body: {} }
})

layer(
  Layer.effectDiscard(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO tenant (id, name, slug, status, created_at, updated_at) VALUES (${tenantId}, 'T', 't', 'active', now(), now())`
      yield* sql`CREATE TABLE parcel (id text PRIMARY KEY, tenant_id uuid NOT NULL, weight_grams int NOT NULL,
        price_cents bigint, sent_at timestamptz NOT NULL, note text)`
    })
  ).pipe(
    Layer.provideMerge(JournalWriter.layer({ partitions: [0], onLost: () => {} })),
    Layer.provideMerge(TestDatabase.layer)
  ),
  { excludeTestServices: true, timeout: "60 seconds" }
)("List tables", (it) => {
  const stored = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return yield* sql<
      ListTable.RowOf<typeof ParcelList>
    >`SELECT ${sql.literal(ParcelList.columns)} FROM parcel ORDER BY id`
  })

  it.effect("a list that the store does not know is written by the commit that makes its entities", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const [first, second] = [parcel(1), parcel(2)]
      yield* journal.commit({
        ...empty,
        entities: [entity(first.id), entity(second.id)],
        lists: [...ParcelList.writes(null, first), ...ParcelList.writes(null, second)]
      })
      expect(yield* stored).toStrictEqual([ParcelList.rowOf(first), ParcelList.rowOf(second)])
      const paid = { ...first, priceCents: 9_007_199_254_740_991, note: null }
      yield* journal.commit({ ...empty, entities: [entity(first.id, 2)], lists: ParcelList.writes(first, paid) })
      expect(yield* stored).toStrictEqual([ParcelList.rowOf(paid), ParcelList.rowOf(second)])
      expect((yield* journal.find(second.id))?.seq).toBe(1)
    })
  )

  it.effect("a refused entity leaves nothing of the others that its commit brings to life", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* journal.commit({ ...empty, entities: [entity(Ids.call("taken"))] })
      const commit = {
        ...empty,
        entities: [entity(Ids.call("fresh")), entity(Ids.call("taken"))],
        lists: ParcelList.writes(null, parcel(3))
      }
      const exit = yield* Effect.exit(journal.commit(commit))
      expect(exit._tag).toBe("Failure")
      expect(yield* journal.find(Ids.call("fresh"))).toBeNull()
      expect((yield* stored).some(({ id }) => id === parcel(3).id)).toBe(false)
    })
  )

  it.effect("a change that the list does not show writes no row", () =>
    Effect.sync(() => {
      const before = parcel(1)
      expect(ParcelList.writes(before, { ...before, seal: "broken" })).toStrictEqual([])
      expect(ParcelList.writes(before, { ...before, weight: 1 }).length).toBe(1)
    })
  )
})
