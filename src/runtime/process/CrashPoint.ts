import { Context } from "effect"

/**
 * Places where a process may die at the worst moment; the crash tests kill it there.
 *
 * In production every point is a no-op. `main.ts` arms one from the environment, for tests only.
 */
export const points = ["before_commit", "after_commit", "after_command", "before_answer", "mid_delivery"] as const
export type Point = (typeof points)[number]

export const CrashPoint = Context.Reference<(point: Point) => void>("trunkline/actor/CrashPoint", {
  defaultValue: () => () => {}
})
