/**
 * Money, guide/money.md#what-a-call-costs: whole cents of USD outside, micro-USD inside a rating, rounded up once.
 */
const microPerCent = 10_000

/**
 * The most that a balance, a credit limit or a cap may be: a billion dollars. Such amounts in micro-USD, and sums of
 * them, are exact (below 2^53).
 */
export const mostCents = 100_000_000_000

/** The most that the operator books at once: ten million dollars. Nine million such entries have an exact sum. */
export const mostBookedCents = 1_000_000_000

/** Cents for an amount in micro-USD, rounded up: a started cent is owed. */
export const centsFromMicro = (micro: number): number => Math.ceil(micro / microPerCent)

export const microFromCents = (cents: number): number => cents * microPerCent

/** The number of started minutes in `ms`. */
export const startedMinutes = (ms: number): number => (ms <= 0 ? 0 : Math.ceil(ms / 60_000))
