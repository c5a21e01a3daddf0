/**
 * Money, guide/money.md#what-a-call-costs: whole cents of USD outside, micro-USD inside a rating, rounded up once.
 */
const microPerCent = 10_000

/** Cents for an amount in micro-USD, rounded up: a started cent is owed. */
export const centsFromMicro = (micro: number): number => Math.ceil(micro / microPerCent)

/** Cost of one leg in micro-USD: each started 60 s at `microPerMinute`; an unanswered leg is free. */
export const legCostMicro = (answeredMs: number, microPerMinute: number): number =>
  answeredMs <= 0 ? 0 : Math.ceil(answeredMs / 60_000) * microPerMinute

/** Whole seconds that `cents` pays for at `microPerMinute`, in started minutes; `null` when the call is free. */
export const affordableSecs = (cents: number, microPerMinute: number): number | null =>
  microPerMinute <= 0 ? null : Math.max(0, Math.floor((cents * microPerCent) / microPerMinute)) * 60
