import { Effect } from "effect"
import * as Sql from "../../runtime/store/Sql.ts"
import * as WorkPrice from "../../domain/WorkPrice.ts"

/** Reads the prices of work on calls and of lookups. A kind without a row is free. */
export const read = Effect.gen(function* () {
  const { all } = yield* Sql.make
  const rows = yield* all<{ readonly kind: string; readonly microUsd: number }>`SELECT kind, micro_usd FROM work_price`
  return rows.reduce<WorkPrice.PriceList>(
    (prices, { kind, microUsd }) => (WorkPrice.isPriced(kind) ? { ...prices, [kind]: microUsd } : prices),
    WorkPrice.allFree
  )
})

/** Writes a price inside the caller's transaction. */
export const write = Effect.fnUntraced(function* (kind: WorkPrice.Priced, microUsd: number) {
  const { done } = yield* Sql.make
  yield* done`
    INSERT INTO work_price (kind, micro_usd) VALUES (${kind}, ${microUsd})
    ON CONFLICT (kind) DO UPDATE SET micro_usd = excluded.micro_usd`
})
