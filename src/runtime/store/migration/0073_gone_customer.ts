import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Customers and cards that the card processor has no more (`money/funding/Customers.ts`). A tenant may have had several
 * customers, of which one is not gone. `seen_with` names the processor's key under which the customer was last seen,
 * and is null for customers from before.
 */
export const goneCustomer = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.all([
    sql`
      ALTER TABLE payment_customer ADD COLUMN seen_with text, ADD COLUMN gone_at timestamptz,
        DROP CONSTRAINT payment_customer_pkey, DROP CONSTRAINT payment_customer_processor_customer_id_key,
        ADD PRIMARY KEY (processor, customer_id)`,
    sql`CREATE UNIQUE INDEX payment_customer_present ON payment_customer (tenant_id, processor) WHERE gone_at IS NULL`,
    sql`CREATE INDEX payment_customer_tenant ON payment_customer (tenant_id)`,
    sql`ALTER TABLE payment_method ADD COLUMN customer_id text, ADD COLUMN gone_at timestamptz`,
    sql`
      UPDATE payment_method m SET customer_id = c.customer_id FROM payment_customer c
      WHERE c.tenant_id = m.tenant_id AND c.processor = m.processor`
  ])
)
