import * as Policies from "../../domain/fair/Policies.ts"
import type { Window } from "../../domain/fair/SlidingWindow.ts"

/**
 * The causes of letters: a request with an address, or an event of a workspace (`notice`). Invitations of workspaces
 * without a confirmed owner are a kind of their own, so they do not use up the limit of others.
 */
export type Kind = keyof typeof Policies.letters

/** Alternatives, one of which must have room in each of its windows. */
type Rule = ReadonlyArray<ReadonlyArray<Window>>

/** A letter of the same kind that was posted before, to the same mailbox or by the same workspace. */
export interface Earlier {
  readonly ageMs: number
  readonly isSameMailbox: boolean
  readonly isSameWorkspace: boolean
}

/**
 * The milliseconds until a rule has room; 0: it has; infinite: it has no alternative. `ages`: of the counted letters,
 * the smallest first.
 */
const waitOf = (rule: Rule, ages: ReadonlyArray<number>): number =>
  Math.min(
    ...rule.map((windows) =>
      Math.max(
        0,
        ...windows.map(({ limit, windowMs }) => {
          const oldest = ages[limit - 1]
          return oldest === undefined ? 0 : windowMs - oldest
        })
      )
    )
  )

/** The milliseconds until a letter of this kind may be posted after these; 0: it may be. */
export const waitMs = (kind: Kind, earlier: ReadonlyArray<Earlier>): number => {
  const rules = Policies.letters[kind]
  const ages = (isCounted: (one: Earlier) => boolean) =>
    earlier
      .filter(isCounted)
      .map(({ ageMs }) => ageMs)
      .toSorted((one, other) => one - other)
  const both = ages(({ isSameMailbox, isSameWorkspace }) => isSameMailbox && isSameWorkspace)
  const workspace = ages(({ isSameWorkspace }) => isSameWorkspace)
  return Math.max(
    waitOf(
      rules.mailbox,
      ages(({ isSameMailbox }) => isSameMailbox)
    ),
    Math.min(waitOf(rules.workspace, workspace), waitOf(rules.spare, both)),
    waitOf(rules.both, both)
  )
}

/** For how long a letter of this kind is counted. */
export const longestMs = (kind: Kind): number =>
  Math.max(
    ...Object.values(Policies.letters[kind]).flatMap((rule: Rule) => rule.flat().map(({ windowMs }) => windowMs))
  )
