import { ApiError } from "../../domain/ApiError.ts"
import type { AddressId } from "../../domain/Id.ts"
import * as RenewalCalendar from "./renewal/RenewalCalendar.ts"

/**
 * The life of a number, guide/numbers.md#owned-numbers and guide/numbers.md#renewals: a table from state and input to
 * state. The caller handles rows, money and letters. Times are epoch milliseconds.
 */
type Status = "pending" | "active" | "failed" | "port_pending" | "released" | "ported_out"

export interface Life {
  readonly status: Status
  readonly activatedAt: number | null
  /** The oldest month that is not paid, due at its beginning; null when there will be none. */
  readonly nextRenewalAt: number | null
  /** The time when payment of the due month was first refused; null when nothing is owed. */
  readonly unpaidSince: number | null
  /** The number of letters about it so far. */
  readonly reminders: number
  readonly unpaidSuspendedAt: number | null
  readonly operatorSuspendedAt: number | null
  readonly emergencyAddressId: AddressId | null
  readonly emergencyEnabled: boolean
  readonly releasedAt: number | null
  /** The last owner may order it again until then. */
  readonly heldUntil: number | null
  /** No other tenant may order it until then. */
  readonly agedUntil: number | null
  /** The oldest month that the last owner owes for a number that it has no longer; null when nothing is owed. */
  readonly owedFrom: number | null
  /** The months that began by then are owed. Null exactly when `owedFrom` is. */
  readonly owedUntil: number | null
}

export type Input =
  | { readonly type: "activated" }
  | { readonly type: "failed" }
  /** The due month is paid, or the oldest one that is owed for a number without an owner. */
  | { readonly type: "renewed" }
  /** The due month cannot be paid now. */
  | { readonly type: "unpaid" }
  | { readonly type: "suspended" }
  | { readonly type: "resumed" }
  | { readonly type: "ported_out" }
  /** The `operator` may release numbers that the tenant may not. `isHeld`: the last owner may have it again. */
  | { readonly type: "released"; readonly by: "tenant" | "operator"; readonly isHeld: boolean }

/** The letters to the owner. */
export type Letter = "due" | "suspended" | "released"

type Outcome =
  | { readonly type: "accepted"; readonly life: Life; readonly letter: Letter | null }
  | { readonly type: "unchanged" }
  | { readonly type: "rejected"; readonly error: ApiError }

const dayMs = 86_400_000

/** A letter is sent after each of these times without payment. */
const reminderMs = [0, 3 * dayMs, 6 * dayMs] as const
const graceMs = 7 * dayMs
/** How long a number is suspended before it is released, which is 30 days after payment of its month was refused. */
const suspendedMs = 23 * dayMs
const heldMs = 14 * dayMs
const agedMs = 14 * dayMs

const unchanged: Outcome = { type: "unchanged" }
const accepted = (life: Life, letter: Letter | null = null): Outcome => ({ type: "accepted", life, letter })
const rejected = (code: Parameters<typeof ApiError.of>[0], message: string): Outcome => ({
  type: "rejected",
  error: ApiError.of(code, message)
})

const paid = { unpaidSince: null, reminders: 0, unpaidSuspendedAt: null } as const

/**
 * The fields of a number that has lost its owner. Months that have begun stay owed, or a release would be cheaper than
 * the renewal. A month that begins while the number is suspended for want of payment is not owed.
 */
const gone = (life: Life, now: number) => {
  const owedFrom = isDue(life, now) ? life.nextRenewalAt : null
  return {
    ...paid,
    nextRenewalAt: null,
    emergencyAddressId: null,
    emergencyEnabled: false,
    releasedAt: now,
    owedFrom,
    owedUntil: owedFrom === null ? null : Math.max(owedFrom, life.unpaidSuspendedAt ?? now)
  }
}

export const step = (life: Life, input: Input, now: number): Outcome => {
  switch (input.type) {
    case "activated":
      return life.status === "pending" || life.status === "port_pending"
        ? accepted({
            ...life,
            status: "active",
            activatedAt: now,
            nextRenewalAt: RenewalCalendar.after(now, now)
          })
        : unchanged
    case "failed":
      return life.status === "pending" || life.status === "port_pending"
        ? accepted({ ...life, status: "failed" })
        : unchanged
    case "renewed": {
      const due = dueMonth(life, now)
      if (due === null) return unchanged
      const next = RenewalCalendar.after(life.activatedAt ?? due, due)
      if (life.status === "active") return accepted({ ...life, ...paid, nextRenewalAt: next })
      const isSettled = life.owedUntil === null || next > life.owedUntil
      return accepted({ ...life, owedFrom: isSettled ? null : next, owedUntil: isSettled ? null : life.owedUntil })
    }
    case "unpaid":
      return isDue(life, now) ? unpaid(life, now) : unchanged
    case "suspended":
      if (life.status !== "active") return notActive(life)
      return life.operatorSuspendedAt === null ? accepted({ ...life, operatorSuspendedAt: now }) : unchanged
    case "resumed":
      if (life.status !== "active") return notActive(life)
      return life.operatorSuspendedAt === null ? unchanged : accepted({ ...life, operatorSuspendedAt: null })
    case "ported_out":
      return life.status === "active"
        ? accepted({ ...life, ...gone(life, now), status: "ported_out" })
        : notActive(life)
    case "released": {
      const refused = input.by === "operator" ? notActive(life) : refusal(life)
      if (life.status === "active" && (input.by === "operator" || refused === null))
        return accepted(released(life, input.isHeld, now))
      // A repeated release succeeds, because the first answer may have been lost.
      if (input.by === "tenant" && life.status === "released") return unchanged
      return refused ?? unchanged
    }
  }
}

const released = (life: Life, isHeld: boolean, now: number): Life => ({
  ...life,
  ...gone(life, now),
  status: "released",
  heldUntil: isHeld ? now + heldMs : now,
  agedUntil: now + heldMs + agedMs
})

/** Why its tenant may not release it; null when it may. */
const refusal = (life: Life): Outcome | null => {
  if (life.status !== "active")
    return rejected("release_not_permitted", `the number is ${life.status}; only an active one can be released`)
  return life.emergencyAddressId === null
    ? null
    : rejected(
        "release_not_permitted",
        "the number is the anchor of an emergency address; set its emergency_address_id to null first"
      )
}

const notActive = ({ status }: Life): Outcome =>
  status === "pending" || status === "port_pending"
    ? rejected("number_not_yet_active", `the number is ${status}`)
    : rejected("conflict", `the number is ${status}`)

/** Takes one step at a time, so that a service that was down suspends first, and releases days later. */
const unpaid = (life: Life, now: number): Outcome => {
  if (life.unpaidSince === null) return accepted({ ...life, unpaidSince: now, reminders: 1 }, "due")
  if (life.unpaidSuspendedAt !== null)
    return now >= life.unpaidSuspendedAt + suspendedMs ? accepted(released(life, true, now), "released") : unchanged
  const since = now - life.unpaidSince
  if (since >= graceMs) return accepted({ ...life, unpaidSuspendedAt: now }, "suspended")
  const reminders = reminderMs.filter((ms) => ms <= since).length
  return reminders > life.reminders ? accepted({ ...life, reminders }, "due") : unchanged
}

/** Whether a month of it has to be paid. */
const isDue = ({ nextRenewalAt, status }: Life, now: number): boolean =>
  status === "active" && nextRenewalAt !== null && nextRenewalAt <= now

/** The oldest month that has to be paid, by its beginning; null when there is none. */
export const dueMonth = (life: Life, now: number): number | null =>
  isDue(life, now) ? life.nextRenewalAt : life.owedFrom

/** The next time at which `unpaid` or a renewal may change it; null for never. */
export const checkAt = (life: Life): number | null => {
  if (life.status !== "active") return null
  if (life.unpaidSince === null) return life.nextRenewalAt
  if (life.unpaidSuspendedAt !== null) return life.unpaidSuspendedAt + suspendedMs
  return life.unpaidSince + (reminderMs[life.reminders] ?? graceMs)
}

/** The time since which it neither rings nor calls; null when it works. */
export const suspendedAt = ({ operatorSuspendedAt, unpaidSuspendedAt }: Life): number | null =>
  operatorSuspendedAt === null || unpaidSuspendedAt === null
    ? (operatorSuspendedAt ?? unpaidSuspendedAt)
    : Math.min(operatorSuspendedAt, unpaidSuspendedAt)

/** Why its fields cannot be changed; null when they can. */
export const fixed = (life: Life): ApiError | null => {
  if (life.status === "active") return null
  const outcome = notActive(life)
  return outcome.type === "rejected" ? outcome.error : null
}
