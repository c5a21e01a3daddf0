import { Clock, Effect, Result, Schema } from "effect"
import { Billing, type RateDeck, RateDecks } from "../../../money/billing/Billing.ts"
import * as WorkPrice from "../../../domain/WorkPrice.ts"
import * as TimeSlices from "../../../domain/time/TimeSlices.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as Shown from "../command/Shown.ts"
import * as Files from "../command/Files.ts"
import * as TenantReference from "../tenant/TenantReference.ts"
import * as RateCsvTable from "./RateCsvTable.ts"

/** The most rows of a difference that are shown. */
const shownRows = 1_000

const columns =
  "direction,prefix,micro_usd_per_minute[,first_secs,step_secs][,connection_fee_micro_usd][,minimum_micro_usd]"

/** A rate deck in a CSV file. */
export const csv = Flag.argument("csv", Schema.String, `a file: ${columns}`, { read: Files.text })
export const deck = Flag.optional(Schema.Int, "one deck of the history, by its number")

export const ratesOf = Effect.fnUntraced(function* (csv: string) {
  const rates = yield* TimeSlices.run(() => RateCsvTable.read(csv))
  return Result.isFailure(rates) ? yield* ApiError.of("invalid_request", rates.failure) : rates.success
})

/** The rows of a deck as a list shows them. */
export const shown = (rates: ReadonlyArray<RateDeck.Rate>) =>
  TimeSlices.run(() => TimeSlices.mapped(rates, RateCsvTable.view))

const ofTenant = Flag.optional(TenantReference.Reference, "the own deck of this tenant: its id or its slug", {
  value: "ID|SLUG"
})

/** A percentage in digits, because `12.35` is no number in binary. */
const Percent = Schema.String.check(Schema.isPattern(/^[0-9]{1,3}(\.[0-9]{1,2})?$/))

const hundredthsOf = (percent: string): number => {
  const [whole = "", part = ""] = percent.split(".")
  return Number(whole) * 100 + Number(part.padEnd(2, "0"))
}

const percentOf = (hundredths: number): string =>
  `${Math.floor(hundredths / 100)}.${String(hundredths % 100).padStart(2, "0")}`

const differences = Command.table("direction prefix from to")

/** guide/operation.md#rates-and-dialing-permissions. */
export const commands = [
  Command.make("rates import", {
    summary: "replaces the rate deck from CSV, all or none, now or from a moment on",
    input: {
      csv,
      tenant: ofTenant,
      effective: Flag.optionalTime("from when on it holds; at once unless given"),
      dryRun: Flag.on("checks the file and writes nothing")
    },
    run: Effect.fnUntraced(function* ({ csv, dryRun, effective = null, tenant }) {
      const billing = yield* Billing
      const rates = yield* ratesOf(csv)
      const tenantId = yield* TenantReference.idOrNull(tenant)
      if (dryRun)
        return {
          rates: rates.length,
          changed_rows: (yield* billing.rateDifference(rates, effective, tenantId)).length
        }
      yield* billing.setRates(rates, effective, tenantId)
      yield* Effect.logInfo("rate deck replaced by the operator", { rates: rates.length, effective, tenant: tenantId })
      return { rates: rates.length }
    })
  }),
  Command.make(
    "rates diff",
    {
      summary: "shows what a CSV would change of the deck that holds now, or at a moment; the first 1,000 rows",
      input: {
        csv,
        tenant: ofTenant,
        effective: Flag.optionalTime("the moment at which decks are compared; now unless given")
      },
      run: Effect.fnUntraced(function* ({ csv, effective = null, tenant }) {
        const tenantId = yield* TenantReference.idOrNull(tenant)
        const changed = yield* (yield* Billing).rateDifference(yield* ratesOf(csv), effective, tenantId)
        return { changed_rows: changed.length, results: changed.slice(0, shownRows) }
      })
    },
    { print: (answer) => `${differences(answer)}\n\nchanged rows: ${answer.changed_rows}` }
  ),
  Command.make("rates list", {
    summary: "shows the rate deck that holds now, or one of the history",
    input: { deck, tenant: ofTenant },
    columns: RateCsvTable.columns,
    run: Effect.fnUntraced(function* ({ deck, tenant }) {
      const billing = yield* Billing
      const rates = deck === undefined ? billing.rates(yield* TenantReference.idOrNull(tenant)) : billing.ratesOf(deck)
      return { results: yield* shown(yield* rates) }
    })
  }),
  Command.make("rates history", {
    summary: "lists the rate decks that held, the one that holds, and those that will",
    input: { tenant: ofTenant },
    columns: "deck status effective_at imported_at rows",
    run: Effect.fnUntraced(function* ({ tenant }) {
      const now = yield* Clock.currentTimeMillis
      const decks = yield* (yield* Billing).decks(yield* TenantReference.idOrNull(tenant))
      const current = RateDecks.holding(decks, now)
      return {
        results: decks.toReversed().map((deck) => ({
          deck: deck.id,
          status: deck === current ? "holds" : deck.effectiveAt > now ? "scheduled" : "past",
          ...Shown.of(deck, "effectiveAt importedAt rows")
        }))
      }
    })
  }),
  Command.make("rates cancel", {
    summary: "takes back a rate deck that does not hold yet",
    input: { deck: Flag.argument("deck", Schema.Int, "the deck, by its number in the history") },
    run: ({ deck }) => Billing.use((billing) => Effect.as(billing.cancelRates(deck), { deck, cancelled: true }))
  }),
  Command.make("rates discount", {
    summary: "lowers the prices of the deck for all for one tenant, from the next call on; 0 ends it",
    input: {
      tenant: TenantReference.argument,
      percent: Flag.argument("percent", Percent, "0 to 100, with two decimals at most")
    },
    run: Effect.fnUntraced(function* ({ percent, tenant }) {
      const hundredths = hundredthsOf(percent)
      yield* (yield* Billing).setDiscount(yield* TenantReference.idOf(tenant), hundredths)
      return { tenant, percent: percentOf(hundredths) }
    })
  }),
  Command.make("rates discounts", {
    summary: "lists the discounts of tenants",
    columns: "tenant_id percent",
    run: () =>
      Billing.use((billing) =>
        Effect.map(billing.discounts, (discounts) => ({
          results: discounts.map(({ hundredths, tenantId }) => ({
            tenant_id: tenantId,
            percent: percentOf(hundredths)
          }))
        }))
      )
  }),
  Command.make("prices set", {
    summary:
      "sets what work on a call costs: recording, transcription or (of each member) conference a minute, machine_detection a check; and lookup a number",
    input: {
      kind: Flag.argument("kind", Schema.Literals(WorkPrice.priced), WorkPrice.priced.join(", ")),
      microUsd: Flag.argument("micro-usd", Schema.Int, "the price, in millionths of a dollar")
    },
    run: Effect.fnUntraced(function* ({ kind, microUsd }) {
      yield* (yield* Billing).setPrice(kind, microUsd)
      return { kind, micro_usd: microUsd }
    })
  }),
  Command.make("prices list", {
    summary: "shows what work on a call, and a lookup, cost",
    columns: "kind micro_usd",
    run: Effect.fnUntraced(function* () {
      const billing = yield* Billing
      const prices = { ...(yield* billing.prices), lookup: yield* billing.lookupPrice }
      return { results: Object.entries(prices).map(([kind, micro_usd]) => ({ kind, micro_usd })) }
    })
  })
]
