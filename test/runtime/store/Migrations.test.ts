import { PgClient } from "@effect/sql-pg"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import * as Id from "../../../src/domain/Id.ts"
import { empty, Journal } from "../../../src/runtime/store/journal/Journal.ts"
import * as RowConversion from "../../../src/runtime/store/postgres/RowConversion.ts"
import * as HeldPartitions from "../../../src/runtime/store/owner/HeldPartitions.ts"
import * as JournalWriter from "../../../src/runtime/store/journal/JournalWriter.ts"
import { init } from "../../../src/runtime/store/migration/0001_init.ts"
import * as Migrations from "../../../src/runtime/store/Migrations.ts"
import * as ClaimStatement from "../../../src/webhook/claim/ClaimStatement.ts"
import * as DeliveryQueue from "../../../src/webhook/claim/DeliveryQueue.ts"
import * as DueStatement from "../../../src/webhook/claim/DueStatement.ts"
import * as Ids from "../../support/Ids.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const tenantId = Ids.tenant("8adc81ef-1823-8aa4-bc36-d1a0f98bdf16")
const callId = Ids.call("svc_call_86473279850fa5adca114ffcaa318d1f")
const eventId = Id.deriveUuid(callId, "event", 1)
const diedAt = 1_763_770_000_000

/** A database of the version before partitions, whose process died in a call, in the middle of a delivery. */
const before = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Migrator.make({})({ loader: Migrator.fromRecord({ "0001_init": init }) })
  for (const text of [
    `UPDATE journal_owner SET epoch = 5, heartbeat_at = to_timestamp(${diedAt / 1000})`,
    `INSERT INTO tenant (id, name, slug, status, created_at, updated_at)
      VALUES ('${tenantId}', 'Acme', 'acme', 'active', now(), now())`,
    ...[
      "ren\u00e9@example.com",
      "rene\u0301@example.com",
      "jos\u0065\u0301@b\u00fccher.example",
      "ada@example.com"
    ].map(
      (email, n) => `INSERT INTO member (id, tenant_id, email, password_hash, first_name, last_name, role, created_at)
        VALUES (gen_random_uuid(), '${tenantId}', '${email}', 'none', 'Ada', 'Lovelace', 'viewer', to_timestamp(${n}))`
    ),
    `INSERT INTO balance (tenant_id, balance_cents, updated_at) VALUES ('${tenantId}', 500, now())`,
    `INSERT INTO ledger (id, tenant_id, cause, type, amount_cents, balance_after_cents, description, created_at)
      VALUES ('svc_ledger_1', '${tenantId}', 'trial', 'topup', 500, 500, 'Trial credit', now())`,
    `INSERT INTO route (id, tenant_id, name, is_default, status, adapter, host, port, created_at) VALUES
      ('svc_route_1', '${tenantId}', 'Simulated phones', true, 'active', 'simulator', null, null, now()),
      ('svc_route_2', '${tenantId}', 'Trunk', false, 'active', 'sip', '192.0.2.10', 5060, now()),
      ('svc_route_3', '${tenantId}', 'Same host', false, 'active', 'sip', '192.0.2.10', 5062, now()),
      ('svc_route_4', '${tenantId}', 'Disabled', false, 'disabled', 'sip', '192.0.2.11', 5060, now())`,
    `INSERT INTO entity (id, kind, tenant_id, seq, settled, state_version, state, updated_at) VALUES
      ('${callId}', 'call', '${tenantId}', 2, false, 1, '{"seq": 2}', to_timestamp(${diedAt / 1000})),
      ('${tenantId}', 'account', '${tenantId}', 1, true, 1, '{"seq": 1}', to_timestamp(${diedAt / 1000}))`,
    `INSERT INTO journal (entity_id, seq, at, seed, machine_version, input) VALUES
      ('${callId}', 1, now(), 'a', 1, '{"type": "place"}'), ('${callId}', 2, now(), 'b', 1, '{"type": "carrier"}')`,
    `INSERT INTO webhook_subscription (id, tenant_id, target_url, event_types, signing_secret, is_active, created_at)
      VALUES ('svc_sub_1', '${tenantId}', 'https://x.test', '{*}', 's', true, now())`,
    `INSERT INTO event (id, tenant_id, entity_id, sequence, type, occurred_at, body)
      VALUES ('${eventId}', '${tenantId}', '${callId}', 1, 'call.started', now(), '{}')`,
    `INSERT INTO webhook_delivery (id, tenant_id, event_id, event_type, subscription_id, destination, lane, sequence,
        attempt_no, status, due_at, created_at)
      VALUES (gen_random_uuid(), '${tenantId}', '${eventId}', 'call.started', 'svc_sub_1', 'svc_sub_1', '${callId}', 1,
        1, 'sending', now() + interval '20 seconds', now())`
  ])
    yield* sql.unsafe(text)
})

layer(
  Layer.unwrap(
    Effect.map(TestDatabase.empty, (url) =>
      Layer.orDie(PgClient.layer({ ...RowConversion.settings, url, maxConnections: 4 }))
    )
  ),
  {
    timeout: "60 seconds",
    excludeTestServices: true
  }
)("A database of the version before", (it) => {
  it.effect("goes on: its calls are found, its deliveries are made, its money moves", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* before
      yield* Migrations.run
      const journal = Context.get(
        yield* Layer.build(JournalWriter.layer({ partitions: [0], onLost: () => {} })),
        Journal
      )
      expect(journal.lastHeartbeatAt(0)).toBe(diedAt)
      expect(
        (yield* journal.unsettled("call", 0)).map(({ id, partition, seq }) => ({ id, partition, seq }))
      ).toStrictEqual([{ id: callId, partition: 0, seq: 2 }])

      // Each address in its one spelling; of two that are one, the first has it.
      const members = yield* sql<{ readonly email: string }>`SELECT email FROM member ORDER BY created_at`
      expect(members.map(({ email }) => email)).toStrictEqual([
        "ren\u00e9@example.com",
        "rene\u0301@example.com",
        "jos\u00e9@xn--bcher-kva.example",
        "ada@example.com"
      ])

      yield* sql.unsafe(DeliveryQueue.release, [0, null])
      expect(yield* sql.unsafe<DueStatement.Due>(DueStatement.due, [0, ""])).toMatchObject([
        { partition: 0, tenantId, endpoint: "svc_sub_1" }
      ])
      const wanted = [{ partition: 0, tenantId, endpoint: "svc_sub_1", room: 16, after: "", underWay: [] }]
      const claimed = yield* sql.unsafe<ClaimStatement.ClaimedRow>(ClaimStatement.claim, [
        JSON.stringify(wanted),
        30_000,
        ...HeldPartitions.parameters(journal)
      ])
      expect(claimed.map(({ attemptNo, eventId }) => ({ attemptNo, eventId }))).toStrictEqual([
        { attemptNo: 1, eventId }
      ])

      const { balanceCents } = yield* journal.commit({
        ...empty,
        entities: [
          {
            id: callId,
            kind: "call",
            tenantId,
            seq: 3,
            settled: true,
            stateVersion: 1,
            state: { seq: 3 },
            input: { at: diedAt, seed: "c", machineVersion: 1, body: { type: "recovered" } }
          }
        ],
        money: [
          {
            id: Ids.ledgerEntry("svc_ledger_2"),
            tenantId,
            cause: `call:${callId}`,
            type: "call_charge",
            amountCents: -7,
            description: "Call",
            referenceType: "call",
            referenceId: callId,
            at: diedAt
          }
        ]
      })
      expect(balanceCents).toBe(493)
      expect((yield* journal.inputs(callId)).map(({ seq }) => seq)).toStrictEqual([1, 2, 3])
      expect(yield* journal.unsettled("call", 0)).toStrictEqual([])
      // The addresses that may call in are known without a change of any route.
      expect(yield* sql`SELECT host, version::int AS version, is_active AS active FROM trunk_host`).toStrictEqual([
        { host: "192.0.2.10", version: 1, active: true }
      ])
    }).pipe(Effect.scoped)
  )
})
