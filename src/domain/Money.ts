/**
 * Money, guide/money.md#what-a-call-costs: whole cents of USD outside, micro-USD inside a rating, rounded up once.
 */
const microPerCent = 10_000

/**
 * A billion dollars: the most that a balance, a credit limit or a cap may be, so that these in micro-USD, and sums of
 * them, are exact (below 2^53).
 */
export const mostCents = 100_000_000_000

/** Ten million dollars: the most that the operator books at once. Nine million such entries have an exact sum. */
export const mostBookedCents = 1_000_000_000

/** Cents for an amount in micro-USD, rounded up: a started cent is owed. */
export const centsFromMicro = (micro: number): number => Math.ceil(micro / microPerCent)

export const microFromCents = (cents: number): number => cents * microPerCent

/** How many minutes of `ms` were started. */
export const startedMinutes = (ms: number): number => (ms <= 0 ? 0 : Math.ceil(ms / 60_000))
