import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import type { TenantId } from "../../domain/Id.ts"
import { Letters } from "../../ports/letter/Letter.ts"
import { PaymentError, Payments } from "../../ports/payment/Payments.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import * as FundingLetters from "./FundingLetters.ts"
import * as FundingRepo from "./FundingRepo.ts"
import * as AutoRechargeMachine from "./recharge/AutoRechargeMachine.ts"

/**
 * The customer of a tenant at the processor, which owns its cards, guide/money.md#cards.
 *
 * A customer is gone when it was deleted at the processor, or when the operator has set the key of another account or
 * mode. So it is looked up once under each key before anything is tried with its cards, and whenever the processor
 * refuses a request with it. A tenant whose customer is gone gets a new one with its next card, or the same one back
 * when the key of its account is set again.
 */
export const make = Effect.gen(function* () {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const letters = yield* Letters
  const entropy = yield* Entropy
  const payments = yield* Payments
  const repo = yield* FundingRepo.make

  /** Marks a customer and its cards as gone, and disables auto-recharge where it uses one of them. */
  const lose = Effect.fn("Customers.lose")(function* (tenantId: TenantId, customerId: string) {
    const at = yield* Clock.currentTimeMillis
    yield* Effect.gen(function* () {
      yield* repo.lockTenant(tenantId)
      yield* repo.loseCustomer(payments.name, customerId, payments.keyMark, at)
      const cards = yield* repo.loseMethods(payments.name, customerId, at)
      yield* Effect.logWarning("the card processor does not have a customer any more; its cards are marked as gone", {
        tenantId,
        customerId
      })
      const audit = cards.map(({ id, isDefault }) =>
        Audit.line({
          tenantId,
          at,
          seed: `gone ${id} ${customerId} ${at}`,
          actor: Audit.system,
          action: "payment_method.gone",
          resourceId: id,
          changes: isDefault ? [{ field: "is_default", from: true, to: false }] : []
        })
      )
      const recharge = yield* repo.lockRecharge(tenantId)
      const used = cards.find(({ id, isDefault }) => (recharge?.paymentMethodId ?? (isDefault ? id : null)) === id)
      if (recharge?.enabled === true && used !== undefined) {
        yield* repo.putRecharge(tenantId, { ...recharge, ...AutoRechargeMachine.cardGone(recharge) })
        yield* letters.postToWithin({
          tenantId,
          audience: "billing",
          cause: `recharge_disabled:${used.id}:${customerId}:${at}`,
          letter: FundingLetters.disabled(`${used.brand} ending in ${used.last4}`, "card_gone")
        })
        audit.push(
          Audit.line({
            tenantId,
            at,
            seed: entropy.hex(16),
            actor: Audit.system,
            action: "auto_recharge.disabled",
            resourceId: tenantId,
            changes: [{ field: "enabled", from: true, to: false }]
          })
        )
      }
      yield* journal.commitWithin({ ...empty, audit })
    }).pipe(transaction)
  }, Effect.uninterruptible)

  /**
   * Undoes `lose`, because the key of another account was set for a while only. The newest card becomes the default,
   * as after a removal. Auto-recharge stays disabled, as its letter said.
   */
  const regain = Effect.fn("Customers.regain")(function* (tenantId: TenantId, customerId: string) {
    const at = yield* Clock.currentTimeMillis
    yield* Effect.gen(function* () {
      yield* repo.lockTenant(tenantId)
      if (!(yield* repo.regainCustomer(tenantId, payments.name, customerId, payments.keyMark))) return
      const cards = yield* repo.regainMethods(payments.name, customerId)
      const newest = yield* repo.newestMethod(tenantId, payments.name)
      if (newest !== null) yield* repo.makeDefault(tenantId, payments.name, newest.id)
      const audit = cards.map((id) =>
        Audit.line({
          tenantId,
          at,
          seed: `regained ${id} ${at}`,
          actor: Audit.system,
          action: "payment_method.regained",
          resourceId: id,
          changes: id === newest?.id ? [{ field: "is_default", from: false, to: true }] : []
        })
      )
      yield* journal.commitWithin({ ...empty, audit })
    }).pipe(transaction)
  }, Effect.uninterruptible)

  /** Asks the processor; true: the customer is gone, and marked so. */
  const isGone = Effect.fnUntraced(function* (tenantId: TenantId, customerId: string) {
    if ((yield* payments.customer(customerId)) === "present") {
      yield* repo.seeCustomer(payments.name, customerId, payments.keyMark)
      return false
    }
    yield* lose(tenantId, customerId)
    return true
  })

  /**
   * The customer; null: the tenant has none, or it is gone. The processor is asked once under each of its keys, also
   * about a customer that was gone under an earlier key.
   */
  const present = Effect.fnUntraced(function* (tenantId: TenantId) {
    const kept = yield* repo.presentCustomer(tenantId, payments.name)
    const isPresent = kept !== null && (kept.seenWith === payments.keyMark || !(yield* isGone(tenantId, kept.id)))
    if (isPresent) return kept.id
    const lost = yield* repo.lostCustomer(tenantId, payments.name, payments.keyMark)
    if (lost === null) return null
    if ((yield* payments.customer(lost)) === "present") yield* regain(tenantId, lost)
    else yield* repo.seeCustomer(payments.name, lost, payments.keyMark)
    return yield* repo.customer(tenantId, payments.name)
  })

  const presentOrNew = Effect.fnUntraced(function* (tenantId: TenantId) {
    const known = yield* present(tenantId)
    if (known !== null) return known
    // The processor replays the answer to a key, so the key of a later customer is another one.
    const earlier = (yield* repo.customers(tenantId, payments.name)).length
    const key = `customer:${tenantId}${earlier === 0 ? "" : `:${earlier}`}`
    const made = yield* payments.createCustomer({ key, tenantId })
    const at = yield* Clock.currentTimeMillis
    return yield* repo.keepCustomer(tenantId, payments.name, made, payments.keyMark, at)
  })

  /** Makes a request with the customer, which is made first where there is none; a second time when it is gone. */
  const use = <A>(
    tenantId: TenantId,
    request: (customerId: string) => Effect.Effect<A, PaymentError>
  ): Effect.Effect<A, PaymentError> =>
    Effect.flatMap(presentOrNew(tenantId), (customerId) =>
      Effect.catch(request(customerId), (error) =>
        error.reason !== "gone" && error.reason !== "refused"
          ? Effect.fail(error)
          : Effect.flatMap(isGone(tenantId, customerId), (isGone) =>
              isGone ? Effect.flatMap(presentOrNew(tenantId), request) : Effect.fail(error)
            )
      )
    )

  return { present, isGone, use } as const
})

export type Customers = Effect.Success<typeof make>
