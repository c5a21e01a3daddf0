/**
 * Limits against the testing of stolen cards, guide/money.md#limits-of-cards. Pure.
 *
 * A thief tries each card once: by a setup at the processor's script, by saving it, or by a charge. So what counts are
 * the trials of all cards together, of a workspace, and of an address that signs up for several workspaces.
 */
export type Kind = "setup" | "save" | "decline"

/** A save that is under way counts as a decline until it succeeds. `at`: epoch milliseconds. */
export interface Trial {
  readonly kind: Kind
  readonly at: number
}

/** The trials of the last 24 hours, the oldest first. */
export type Trials = ReadonlyArray<Trial>

export const withinMs = 24 * 3_600_000

/** Integrators save the cards of many honest customers from one address, so an address may save those of ten. */
const most: Readonly<Record<"workspace" | "address", Readonly<Record<Kind, number>>>> = {
  workspace: { setup: 24, save: 24, decline: 24 },
  address: { setup: 72, save: 240, decline: 72 }
}

export interface Refusal {
  /** Whose limit refuses. */
  readonly by: "workspace" | "address"
  /** From then on no limit refuses the request, unless more trials come. Epoch milliseconds. */
  readonly until: number
}

/** Why a further setup, save or charge is refused; null: it may be. */
export const refusal = (
  asked: "setup" | "save" | "charge",
  tried: { readonly workspace: Trials; readonly address: Trials }
): Refusal | null => {
  const refusals = (["workspace", "address"] as const).flatMap((by): ReadonlyArray<Refusal> => {
    const limits = most[by]
    const over = (limit: number, kinds: ReadonlyArray<Kind>) => {
      const counted = tried[by].filter(({ kind }) => kinds.includes(kind))
      const last = counted[counted.length - limit]
      return last === undefined ? [] : [{ by, until: last.at + withinMs }]
    }
    return [
      // A setup may decline a card where this service does not learn of it, so declines refuse setups as well.
      ...over(limits.decline, ["decline"]),
      ...(asked === "setup" ? over(limits.setup, ["setup"]) : []),
      ...(asked === "save" ? over(limits.save, ["save", "decline"]) : [])
    ]
  })
  const [first] = refusals
  return first === undefined ? null : { by: first.by, until: Math.max(...refusals.map(({ until }) => until)) }
}
