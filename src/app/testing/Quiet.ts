import { setImmediate as turn, setTimeout as delay } from "node:timers/promises"
import type { Activity } from "./Activity.ts"

/** Some activity has lasted too long in real time. */
class Stuck extends Error {
  override readonly name = "Stuck"
  constructor(underWay: ReadonlyArray<string>, patienceMs: number) {
    super(
      `the clock cannot move: for ${patienceMs / 1000} s of real time this has been under way: ` +
        `${[...new Set(underWay)].join("; ") || "the service itself"}. A handler that never answers, or one that waits ` +
        "for the clock, looks like this; `patience` of Trunkline.start gives it longer."
    )
  }
}

/** Turns of the event loop without activity. A round trip to code of this process over loopback needs several. */
const turnsWithin = 2
const turnsOutside = 16
/** A statement takes a fraction of a millisecond; a longer one is checked less often. */
const promptMs = 20

interface Options {
  readonly activity: Activity
  /** The deliveries or jobs that are due by the database, or null. Asked only after a further statement. */
  readonly unfinished: () => Promise<string | null>
  /** Real milliseconds that must be quiet after some activity. */
  readonly settleMs: number
  readonly patienceMs: number
}

/**
 * Completes when nothing is under way: no fiber waits for its turn, no statement, file, request or handler is
 * unfinished, and no delivery is due. Fails with `Stuck` when one of these lasts too long.
 */
export const make = ({ activity, patienceMs, settleMs, unfinished }: Options) => {
  /** The counts after which all was quiet. */
  let seen = { steps: -1, statements: -1 }

  return async (): Promise<void> => {
    const began = performance.now()
    let waitsFor: string | null = null
    let steps = activity.steps()
    let steppedAt = began

    const patient = (): void => {
      const now = performance.now()
      if (steps !== activity.steps()) {
        steps = activity.steps()
        steppedAt = now
      }
      const old = activity.underWay().filter(({ since }) => now - Math.max(since, began) > patienceMs)
      if (old.length > 0)
        throw new Stuck(
          old.map(({ what }) => what),
          patienceMs
        )
      if (now - steppedAt > patienceMs) throw new Stuck(waitsFor === null ? [] : [waitsFor], patienceMs)
    }

    for (let calm = 0; ;) {
      await turn()
      if (!activity.isNone()) {
        calm = 0
        patient()
        if (performance.now() - steppedAt > promptMs) await delay(1)
        continue
      }
      const now = { steps: activity.steps(), statements: activity.statements() }
      const isNew = seen.steps !== now.steps || seen.statements !== now.statements
      if (++calm < (isNew ? turnsOutside : turnsWithin)) continue
      if (!isNew) return
      const isStill = () =>
        activity.isNone() && activity.steps() === now.steps && activity.statements() === now.statements
      if (settleMs > 0) await delay(settleMs)
      if (isStill()) {
        waitsFor = seen.statements === now.statements ? null : await unfinished()
        if (waitsFor === null && isStill()) {
          seen = now
          return
        }
      }
      calm = 0
      patient()
      await delay(1)
    }
  }
}
