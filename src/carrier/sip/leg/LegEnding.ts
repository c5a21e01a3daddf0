/** The end of a leg as a value, reported once. The responses that wait for it are sent when the sink has settled it. */
import type { LegEnd, Told } from "../../Carrier.ts"
import { releaseLimitMs } from "../Context.ts"
import type { After, Output, Owed } from "../session/SessionState.ts"

export type LegEnding =
  | { readonly type: "live" }
  /** The leg has to end: it ends as `end` at the time `at`, unless it ends before. */
  | { readonly type: "leaving"; readonly end: LegEnd; readonly at: number }
  /** The end is reported, and the sink has not settled it. */
  | { readonly type: "telling"; readonly owed: ReadonlyArray<Owed> }
  | { readonly type: "ended"; readonly told: Told }

export interface Step {
  readonly ending: LegEnding
  /** `end` is output at most once in the life of a leg. */
  readonly outputs: ReadonlyArray<Extract<Output, { readonly type: "respond" }> | End>
}

export interface End {
  readonly type: "end"
  readonly end: LegEnd
}

export const live: LegEnding = { type: "live" }

export const isOver = (ending: LegEnding): boolean => ending.type === "telling" || ending.type === "ended"

export const answer = ({ durable, id, lost }: Owed, told: Told): Extract<Output, { readonly type: "respond" }> => ({
  type: "respond",
  id,
  response: told === "fault" ? lost : durable
})

/** The outputs that follow an event that is reported to no call. */
export const untold = (after: After | null): ReadonlyArray<ReturnType<typeof answer>> =>
  after?.type === "respond" ? [answer(after, "unknown")] : []

/** Only the first end counts, but every owed response is sent. */
export const end = (ending: LegEnding, reason: LegEnd, owed: ReadonlyArray<Owed> = []): Step => {
  switch (ending.type) {
    case "live":
    case "leaving":
      return { ending: { type: "telling", owed }, outputs: [{ type: "end", end: reason }] }
    case "telling":
      return { ending: { ...ending, owed: [...ending.owed, ...owed] }, outputs: [] }
    case "ended":
      return { ending, outputs: owed.map((each) => answer(each, ending.told)) }
  }
}

export const leave = (ending: LegEnding, reason: LegEnd, now: number): LegEnding =>
  ending.type === "live" ? { type: "leaving", end: reason, at: now + releaseLimitMs } : ending

export const due = (ending: LegEnding, now: number): Step =>
  ending.type === "leaving" && ending.at <= now ? end(ending, ending.end) : { ending, outputs: [] }

export const told = (ending: LegEnding, outcome: Told): Step =>
  ending.type === "telling"
    ? { ending: { type: "ended", told: outcome }, outputs: ending.owed.map((each) => answer(each, outcome)) }
    : { ending, outputs: [] }
