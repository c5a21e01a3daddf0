import { describe, expect, it } from "@effect/vitest"
import * as Attempt from "../../../src/money/funding/charge/AttemptMachine.ts"
import * as Recharge from "../../../src/money/funding/recharge/AutoRechargeMachine.ts"
import * as Id from "../../../src/domain/Id.ts"
import { type Decline, type Intent, unknownDecline } from "../../../src/ports/payment/Payments.ts"
import * as Netem from "../../support/network/Netem.ts"

/**
 * Money under fault: the machines of `funding/` in a service with a processor that behaves as Stripe documents it. The
 * service dies between any two steps; requests and answers are lost; events are lost, repeated and early; keys are
 * forgotten after a day; recharges race. When all has settled, no attempt was charged twice, and the ledger equals the
 * processor's records.
 */
const minute = 60_000
const hour = 60 * minute
const tenantId = Id.deriveUuid("simulated", "tenant")

/** The rules as built, and for comparison without one of them each. */
type Variant =
  | "as built"
  | "random keys"
  | "charges after a day"
  | "no cause"
  | "one recharge unguarded"
  | "refusals that decide"

interface Stored {
  attempt: Attempt.Attempt
  tries: number
  dueAt: number
}

interface World {
  readonly random: () => number
  readonly variant: Variant
  now: number
  balanceCents: number
  ledgerCents: number
  readonly causes: Set<string>
  readonly attempts: Map<string, Stored>
  readonly intents: Map<string, Intent>
  readonly keys: Map<string, { readonly at: number; readonly intentId: string | null }>
  /** Events under way: their intents, and the times when they arrive. */
  events: Array<{ readonly intentId: string; readonly at: number }>
  recharge: Recharge.AutoRecharge
  pendingAtOnce: number
  /** Attempts that failed although their card was charged. */
  chargedForNothing: number
  count: number
}

/** The service dies here, or the answer is lost. */
class Lost extends Error {}
/** The processor refuses the request, because the key is not accepted or the answer is wrong. */
class Refused extends Lost {}

const chance = (world: World, probability: number) => world.random() < probability

/** Stripe makes the charge once for a key while it remembers the key, and sends one event about it, or two, or none. */
const charge = (world: World, attempt: Attempt.Attempt): Intent => {
  if (chance(world, 0.15)) throw new Lost("the request is lost")
  const key = world.variant === "random keys" ? `${attempt.id} ${++world.count}` : attempt.id
  const stored = world.keys.get(key)
  const isRemembered = stored !== undefined && world.now - stored.at < 24 * hour + world.random() * hour
  let intentId = isRemembered ? stored.intentId : null
  if (!isRemembered) {
    if (chance(world, 0.1)) {
      world.keys.set(key, { at: world.now, intentId: null })
      throw new Lost("a failure, which is replayed")
    }
    intentId = `pi_${++world.count}`
    const draw = world.random()
    const status = draw < 0.55 ? "succeeded" : draw < 0.75 ? "declined" : draw < 0.9 ? "processing" : "requires_action"
    world.intents.set(intentId, {
      id: intentId,
      status,
      customerId: attempt.customerId,
      amountCents: attempt.amountCents,
      receivedCents: status === "succeeded" ? attempt.amountCents : 0,
      currency: "usd",
      attemptId: attempt.id,
      clientSecret: null,
      decline: status === "declined" ? declineOf(world) : null
    })
    world.keys.set(key, { at: world.now, intentId })
    emit(world, intentId)
  }
  if (intentId === null) throw new Lost("the failure again")
  if (chance(world, 0.2)) throw new Lost("the answer is lost")
  if (chance(world, 0.05)) throw new Refused("the answer is wrong")
  return intentOf(world, intentId)
}

const declineOf = (world: World): Decline => ({
  ...unknownDecline,
  isFinal: chance(world, 0.05),
  needsAuthentication: chance(world, 0.05)
})

const intentOf = (world: World, id: string): Intent => {
  const intent = world.intents.get(id)
  if (intent === undefined) throw new Error(`there is no intent ${id}`)
  return intent
}

const emit = (world: World, intentId: string): void => {
  const times = chance(world, 0.3) ? 0 : chance(world, 0.3) ? 2 : 1
  for (let n = 0; n < times; n++) world.events.push({ intentId, at: world.now + world.random() ** 3 * 30 * hour })
}

const succeed = (world: World, intent: Intent): void => {
  if (intent.status !== "processing" && intent.status !== "requires_action") return
  world.intents.set(intent.id, { ...intent, status: "succeeded", receivedCents: intent.amountCents })
  emit(world, intent.id)
}

/**
 * One transaction with the row's lock, the ledger's cause and the status. Nothing happens when it dies before its end.
 */
const settle = (world: World, attemptId: string, outcome: Intent | Decline): void => {
  if (chance(world, 0.1)) throw new Lost("it died before the commit")
  const row = world.attempts.get(attemptId)
  if (row === undefined) return
  const { attempt } = row
  const settlement: Attempt.Settlement =
    "status" in outcome
      ? Attempt.settle(attempt, outcome)
      : attempt.status === "pending"
        ? { type: "failed", decline: outcome }
        : { type: "unchanged" }
  const intentId = "status" in outcome ? outcome.id : attempt.intentId
  switch (settlement.type) {
    case "mismatch":
      // The rules must prevent a second intent of an attempt.
      if (world.variant === "as built") throw new Error(settlement.detail)
      return
    case "unchanged":
      if (world.variant === "no cause" && "status" in outcome && outcome.status === "succeeded") credit(world, attempt)
      return
    case "begun":
      row.attempt = { ...attempt, intentId }
      return
    case "succeeded":
      credit(world, attempt)
      row.attempt = { ...attempt, status: "succeeded", intentId, settledAt: world.now }
      if (attempt.kind === "auto_recharge") world.recharge = Recharge.succeeded(world.recharge, world.now)
      return
    case "failed":
      if (intentsOf(world, attempt.id).some(({ status }) => status === "succeeded")) world.chargedForNothing++
      row.attempt = { ...attempt, status: "failed", intentId, settledAt: world.now }
      if (attempt.kind === "auto_recharge")
        world.recharge = Recharge.failed(world.recharge, settlement.decline, world.now)
  }
}

const credit = (world: World, attempt: Attempt.Attempt): void => {
  const cause = `topup:${attempt.id}`
  if (world.causes.has(cause) && world.variant !== "no cause") throw new Error(`${cause} moved money twice`)
  world.causes.add(cause)
  world.balanceCents += attempt.amountCents
  world.ledgerCents += attempt.amountCents
}

const intentsOf = (world: World, attemptId: string): ReadonlyArray<Intent> =>
  [...world.intents.values()].filter((intent) => intent.attemptId === attemptId)

/** An attempt of the job, as in `Collector`. */
const collect = (world: World, row: Stored): void => {
  try {
    collectOnce(world, row)
  } catch (error) {
    if (!(error instanceof Refused) || world.variant !== "refusals that decide") throw error
    settle(world, row.attempt.id, Attempt.refused)
  }
}

const collectOnce = (world: World, row: Stored): void => {
  const { attempt } = row
  const isFirstTry = row.tries++ === 0
  const found = (): Intent | null =>
    [...world.intents.values()].find((intent) =>
      attempt.intentId === null ? intent.attemptId === attempt.id : intent.id === attempt.intentId
    ) ?? null
  if (Attempt.first(isFirstTry, attempt, world.now) === "charge")
    return settle(world, attempt.id, charge(world, attempt))
  if (chance(world, 0.1)) throw new Lost("the list does not come")
  if (chance(world, 0.05)) throw new Refused("the list is not shown")
  const intent = world.variant === "charges after a day" || world.variant === "random keys" ? null : found()
  if (intent === null) {
    const next = Attempt.absent(attempt, world.now)
    if (next === "charge" || (world.variant === "charges after a day" && world.now - attempt.createdAt < 40 * hour))
      return settle(world, attempt.id, charge(world, attempt))
    if (next === "give_up") settle(world, attempt.id, Attempt.neverCharged)
    return
  }
  if (Attempt.present(attempt, intent, world.now) === "cancel") {
    if (intent.status === "requires_action") world.intents.set(intent.id, { ...intent, status: "canceled" })
    if (chance(world, 0.1)) throw new Lost("the answer to the cancel is lost")
  }
  settle(world, attempt.id, intentOf(world, intent.id))
}

const start = (world: World, kind: Attempt.Attempt["kind"], amountCents: number): void => {
  const id = Id.derive(`${++world.count}`, "ledger")
  world.attempts.set(id, {
    attempt: {
      id,
      tenantId,
      processor: "stripe",
      kind,
      amountCents,
      paymentMethodId: Id.derive("card", "pm"),
      customerId: "cus_1",
      cardId: "pm_1",
      status: "pending",
      intentId: null,
      failureCode: null,
      failureMessage: null,
      actor: { type: "system", id: null, name: null },
      ip: null,
      createdAt: world.now,
      settledAt: null
    },
    tries: 0,
    dueAt: world.now
  })
}

const recharges = (world: World) =>
  [...world.attempts.values()].filter(({ attempt }) => attempt.kind === "auto_recharge")

/** Any number may look at once, each under the lock of the settings, and the index allows one pending recharge. */
const look = (world: World): void => {
  const midnight = world.now - (world.now % (24 * hour))
  const isPending = recharges(world).some(({ attempt }) => attempt.status === "pending")
  const amountCents = Recharge.due(
    world.recharge,
    {
      balanceCents: world.balanceCents,
      isPending: isPending && world.variant !== "one recharge unguarded",
      succeededToday: recharges(world).filter(
        ({ attempt }) => attempt.status === "succeeded" && (attempt.settledAt ?? 0) >= midnight
      ).length
    },
    world.now
  )
  if (amountCents !== null) start(world, "auto_recharge", amountCents)
  const pending = recharges(world).filter(({ attempt }) => attempt.status === "pending").length
  world.pendingAtOnce = Math.max(world.pendingAtOnce, pending)
}

const survives = (step: () => void): void => {
  try {
    step()
  } catch (error) {
    if (!(error instanceof Lost)) throw error
  }
}

const deliver = (world: World): void => {
  const arrived = world.events.filter(({ at }) => at <= world.now)
  world.events = world.events.filter(({ at }) => at > world.now)
  for (const event of arrived)
    survives(() => {
      const intent = intentOf(world, event.intentId)
      try {
        settle(world, intent.attemptId ?? "", intent)
      } catch (error) {
        // The event is stored before it is answered, so its job is retried.
        if (error instanceof Lost) world.events.push({ ...event, at: world.now + minute })
        throw error
      }
    })
}

/** The daily reconciliation books charges that no event reported. */
const reconcile = (world: World): void => {
  for (const intent of world.intents.values())
    if (intent.status === "succeeded") survives(() => settle(world, intent.attemptId ?? "", intent))
}

const run = (seed: number, variant: Variant): World => {
  const world: World = {
    random: Netem.random(seed),
    variant,
    now: Date.UTC(2026, 0, 1),
    balanceCents: 0,
    ledgerCents: 0,
    causes: new Set(),
    attempts: new Map(),
    intents: new Map(),
    keys: new Map(),
    events: [],
    recharge: Recharge.set(Recharge.none, { enabled: true, thresholdCents: 500, amountCents: 2_000 }),
    pendingAtOnce: 0,
    chargedForNothing: 0,
    count: 0
  }
  const steps = (until: number, isBusy: boolean) => {
    while (world.now < until) {
      world.now += Math.ceil(world.random() * 20 * minute)
      if (isBusy && chance(world, 0.03)) start(world, "topup", 1_000 + Math.floor(world.random() * 5_000))
      if (isBusy && chance(world, 0.2)) {
        const spent = Math.floor(world.random() * 1_500)
        world.balanceCents -= spent
        world.ledgerCents -= spent
      }
      if (isBusy) for (let looks = 0; looks < 3; looks++) look(world)
      for (const row of world.attempts.values())
        if (row.attempt.status === "pending" && row.dueAt <= world.now) {
          row.dueAt = world.now + Math.min(30 * minute, 2 ** Math.min(row.tries, 8) * 5_000)
          survives(() => collect(world, row))
        }
      deliver(world)
      for (const intent of world.intents.values()) if (chance(world, 0.01)) succeed(world, intent)
    }
  }
  steps(world.now + 3 * 24 * hour, true)
  // The world comes to rest: processing ends, and every event that is not lost arrives.
  steps(world.now + 4 * 24 * hour, false)
  for (const intent of world.intents.values()) if (intent.status === "processing") succeed(world, intent)
  steps(world.now + 36 * hour, false)
  for (let day = 0; day < 20; day++) reconcile(world)
  return world
}

const chargedTwice = (world: World): number =>
  [...world.attempts.keys()].filter(
    (id) =>
      [...world.intents.values()].filter((intent) => intent.attemptId === id && intent.status === "succeeded").length >
      1
  ).length

/** Whether the ledger's card entries differ from the processor's records. */
const differs = (world: World): boolean => {
  const charged = [...world.intents.values()].reduce((sum, { receivedCents }) => sum + receivedCents, 0)
  const credited = [...world.attempts.values()].reduce(
    (sum, { attempt }) => sum + (attempt.status === "succeeded" ? attempt.amountCents : 0),
    0
  )
  const caused = [...world.causes].length
  const succeeded = [...world.attempts.values()].filter(({ attempt }) => attempt.status === "succeeded").length
  return charged !== credited || caused !== succeeded
}

const seeds = Number(process.env["FUNDING_SEEDS"] ?? 3_000)

describe("money under fault (src/money/README.md#cards)", () => {
  it(`no attempt is charged twice, and the ledger is what the processor has, in ${seeds} worlds`, () => {
    let attempts = 0
    let succeeded = 0
    for (let seed = 1; seed <= seeds; seed++) {
      const world = run(seed, "as built")
      expect([seed, chargedTwice(world), differs(world), world.pendingAtOnce <= 1]).toEqual([seed, 0, false, true])
      expect([seed, world.balanceCents, world.chargedForNothing]).toEqual([seed, world.ledgerCents, 0])
      for (const { attempt } of world.attempts.values()) {
        expect(attempt.status).not.toBe("pending")
        attempts++
        if (attempt.status === "succeeded") succeeded++
      }
    }
    // The worlds are not empty.
    expect(attempts).toBeGreaterThan(seeds * 5)
    expect(succeeded).toBeGreaterThan(seeds * 2)
  }, 300_000)

  const wrong: ReadonlyArray<readonly [Variant, (world: World) => boolean]> = [
    ["random keys", (world) => chargedTwice(world) > 0],
    ["charges after a day", (world) => chargedTwice(world) > 0],
    ["one recharge unguarded", (world) => world.pendingAtOnce > 1],
    ["refusals that decide", (world) => world.chargedForNothing > 0]
  ]
  for (const [variant, isWrong] of wrong)
    it(`shows what goes wrong with ${variant}`, () => {
      let found = 0
      for (let seed = 1; seed <= 200; seed++) if (isWrong(run(seed, variant))) found++
      expect(found).toBeGreaterThan(0)
    })

  it("shows what goes wrong with no cause", () => {
    let found = 0
    for (let seed = 1; seed <= 200; seed++) {
      const world = run(seed, "no cause")
      const charged = [...world.intents.values()].reduce((sum, { receivedCents }) => sum + receivedCents, 0)
      const spent = world.ledgerCents - charged
      if (spent > 0) found++
    }
    expect(found).toBeGreaterThan(0)
  })
})

describe("auto-recharge (guide/money.md#auto-recharge)", () => {
  const on = Recharge.set(Recharge.none, { enabled: true, thresholdCents: 500, amountCents: 2_000 })
  const facts: Recharge.Facts = { balanceCents: 500, isPending: false, succeededToday: 0 }

  it("is due at the threshold and below, one at a time, three times a day", () => {
    expect(Recharge.due(on, facts, 0)).toBe(2_000)
    expect(Recharge.due(on, { ...facts, balanceCents: 501 }, 0)).toBeNull()
    expect(Recharge.due(on, { ...facts, isPending: true }, 0)).toBeNull()
    expect(Recharge.due(on, { ...facts, succeededToday: 2 }, 0)).toBe(2_000)
    expect(Recharge.due(on, { ...facts, succeededToday: 3 }, 0)).toBeNull()
    expect(Recharge.due(Recharge.none, facts, 0)).toBeNull()
  })

  it("waits 1, 6 and 24 hours after declines, then is disabled; a success forgets them", () => {
    let state = on
    for (const hours of [1, 6, 24]) {
      state = Recharge.failed(state, unknownDecline, 1_000)
      expect([state.enabled, state.nextTryAt, state.lastAttemptStatus]).toEqual([true, 1_000 + hours * hour, "failed"])
      expect(Recharge.due(state, facts, 1_000 + hours * hour - 1)).toBeNull()
      expect(Recharge.due(state, facts, 1_000 + hours * hour)).toBe(2_000)
    }
    const back = Recharge.succeeded(state, 2_000)
    expect([back.failures, back.nextTryAt]).toEqual([0, null])
    const off = Recharge.failed(state, unknownDecline, 3_000)
    expect([off.enabled, off.disabledReason]).toEqual([false, "declined"])
    const again = Recharge.set(off, { enabled: true, thresholdCents: 1, amountCents: 2_000 })
    expect([again.failures, again.disabledReason, again.nextTryAt]).toEqual([0, null, null])
  })

  it("is disabled at once where the holder has to confirm, or the bank asks for it", () => {
    const asked = Recharge.failed(on, { ...unknownDecline, needsAuthentication: true }, 0)
    const final = Recharge.failed(on, { ...unknownDecline, isFinal: true }, 0)
    expect([asked.enabled, asked.disabledReason]).toEqual([false, "authentication_required"])
    expect([final.enabled, final.disabledReason]).toEqual([false, "do_not_try_again"])
  })
})
