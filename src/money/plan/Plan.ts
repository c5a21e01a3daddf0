import { Clock, Context, Effect, Layer } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type * as Id from "../../domain/Id.ts"
import { receipt, type Rendered } from "../../runtime/idempotency/Slot.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import * as Outage from "../../runtime/store/Outage.ts"
import * as Coverage from "./Coverage.ts"
import * as Included from "./Included.ts"
import * as Periods from "./Periods.ts"
import * as PlanRepo from "./PlanRepo.ts"
import { type PlanRow, type PlanView, planView, type SubscriptionView, subscriptionView } from "./PlanView.ts"

export type { Metered } from "./Coverage.ts"
export { Plan as View, Subscription } from "./PlanView.ts"

const retry = { attempts: 3, firstMs: 10_000, maxMs: 600_000 }
/** The part of a debit that a plan covers comes back within this time. */
const coverEveryMs = 10_000
const renewEveryMs = 600_000

/** Plans and their subscriptions, guide/money.md#plans. */
export class Plans extends Context.Service<
  Plans,
  {
    /** The plans that can be chosen, the cheapest first; for the operator also the others. */
    readonly list: (isPublic: boolean) => Effect.Effect<ReadonlyArray<PlanView>>
    /** Makes or changes a plan. A subscriber keeps the present period, and gets the new plan with the next one. */
    readonly put: (plan: Omit<PlanRow, "createdAt">) => Effect.Effect<PlanView, ApiError>
    /** The most participants of the tenant's conferences; null when the plan sets no bound. */
    readonly conferenceParticipants: (tenantId: Id.TenantId) => Effect.Effect<number | null>
    readonly subscription: (tenantId: Id.TenantId) => Effect.Effect<SubscriptionView>
    /** Chooses a plan: at once when there is none, else for the next period. Null: no plan after this period. */
    readonly subscribe: Audit.Request<[slug: string | null]>
    /** Ends the plan of a closed tenant without calls, after it has covered them. */
    readonly close: (tenantId: Id.TenantId) => Effect.Effect<void>
    /** Debits the fees that are due. The job does it by itself. */
    readonly renew: Effect.Effect<void>
    /** Gives back what plans cover of the debits so far. The job does it by itself. */
    readonly cover: Effect.Effect<void>
  }
>()("trunkline/plan/Plans") {
  static readonly layer = (options: { readonly metered: Coverage.Metered }) =>
    Layer.effect(
      Plans,
      Effect.gen(function* () {
        const { transaction } = yield* Sql.make
        const journal = yield* Journal
        const jobs = yield* Jobs
        const entropy = yield* Entropy
        const repo = yield* PlanRepo.make
        const coverTenant = yield* Coverage.make(repo, options.metered)
        const periods = yield* Periods.make(repo, coverTenant)

        /** A failure for one tenant must not stop the others. */
        const each = (tenants: ReadonlyArray<Id.TenantId>, run: (id: Id.TenantId) => Effect.Effect<unknown, unknown>) =>
          Effect.forEach(
            tenants,
            (id) =>
              Effect.catchCause(run(id), (cause) => Outage.logged("a plan could not be looked after", cause, { id })),
            { discard: true }
          )
        const cover = Effect.flatMap(repo.uncovered, (tenants) => each(tenants, coverTenant))
        const renew = Effect.gen(function* () {
          yield* each(yield* repo.due(yield* Clock.currentTimeMillis), periods.renew)
        }).pipe(Effect.orDie)
        jobs.declare({
          kind: "plan.covering",
          concurrency: 1,
          timeoutMs: 300_000,
          retry,
          everyMs: coverEveryMs,
          run: () => cover
        })
        jobs.declare({
          kind: "plan.renewal",
          concurrency: 1,
          timeoutMs: 600_000,
          retry,
          everyMs: renewEveryMs,
          run: () => renew
        })

        const viewOf = (row: PlanRepo.SubscriptionRow | null, plan: PlanRow | null) =>
          subscriptionView(
            row === null
              ? {
                  plan: null,
                  status: "none",
                  currentPeriodStart: null,
                  currentPeriodEnd: null,
                  nextPlanSlug: null,
                  used: {}
                }
              : {
                  plan,
                  status: row.status,
                  currentPeriodStart: row.periodStart,
                  currentPeriodEnd: row.periodEnd,
                  nextPlanSlug: row.nextPlanSlug,
                  used: { ...row.used }
                }
          )
        const rendered = (view: SubscriptionView): Rendered => ({ status: 200, body: JSON.stringify(view) })

        return Plans.of({
          list: (isPublic) => Effect.map(repo.plans(isPublic), (plans) => plans.map((plan) => planView(plan))),
          put: Effect.fn("Plans.put")(function* (plan) {
            const unknown = Object.keys(plan.included).find(
              (name) => !(Included.names as ReadonlyArray<string>).includes(name)
            )
            if (unknown !== undefined)
              return yield* ApiError.of(
                "invalid_request",
                `a plan cannot include ${unknown}, only ${Included.names.join(", ")}`
              )
            const at = yield* Clock.currentTimeMillis
            return yield* Effect.gen(function* () {
              const before = yield* repo.plan(plan.slug)
              const after = { ...plan, createdAt: before?.createdAt ?? at }
              yield* repo.putPlan(after)
              const line = Audit.line({
                tenantId: null,
                at,
                seed: entropy.hex(16),
                actor: yield* Audit.operator,
                action: before === null ? "plan.created" : "plan.updated",
                resourceId: plan.slug,
                changes: [
                  { field: "monthly_fee_cents", from: before?.monthlyFeeCents ?? null, to: plan.monthlyFeeCents },
                  { field: "is_public", from: before?.isPublic ?? null, to: plan.isPublic },
                  { field: "included", from: before?.included ?? null, to: plan.included }
                ]
              })
              yield* journal.commitWithin({ ...empty, audit: [line] })
              return planView(after)
            }).pipe(transaction)
          }),
          conferenceParticipants: repo.conferenceParticipants,
          subscription: Effect.fn("Plans.subscription")(function* (tenantId) {
            const row = yield* repo.find(tenantId, false)
            return viewOf(row, row === null ? null : yield* repo.plan(row.planSlug))
          }),
          subscribe: Effect.fn("Plans.subscribe")(function* (caller, slug, slot) {
            const { tenantId } = caller
            const by = Audit.byCaller(caller)
            const chosen = slug === null ? null : yield* repo.plan(slug)
            const before = yield* repo.find(tenantId, false)
            // Only its subscribers can keep a plan that is no longer public.
            if (slug !== null && (chosen === null || (!chosen.isPublic && before?.planSlug !== slug)))
              return yield* ApiError.of("subscription_invalid", `there is no plan "${slug}" to choose`, "plan_slug")
            if (before === null && chosen !== null) {
              const row = yield* periods.start(tenantId, chosen, by, (made, at) =>
                receipt(slot, rendered(viewOf(made, chosen)), at)
              )
              return rendered(viewOf(row, chosen))
            }
            const at = yield* Clock.currentTimeMillis
            const answer = yield* Effect.gen(function* () {
              const row = yield* repo.find(tenantId, true)
              const plan = row === null ? null : yield* repo.plan(row.planSlug)
              const view = rendered(viewOf(row === null ? null : { ...row, nextPlanSlug: slug }, plan))
              const kept = receipt(slot, view, at)
              if (row === null || row.nextPlanSlug === slug) {
                if (row === null && slug !== null)
                  return yield* ApiError.of("conflict", "the subscription was changed meanwhile; try again")
                yield* journal.commitWithin({ ...empty, receipt: kept })
              } else yield* periods.change(row, slug, at, by, kept)
              return view
            }).pipe(transaction)
            return answer
          }),
          close: (tenantId) => Effect.orDie(periods.close(tenantId)),
          renew,
          cover
        })
      })
    )
}
