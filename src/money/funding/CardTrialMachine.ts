/**
 * Limits against the testing of stolen cards, guide/money.md#limits-of-cards. Pure.
 *
 * A thief tries each card once: by a setup at the processor's script, by saving it, or by a charge. So what counts are
 * the trials of all cards together, of a workspace, and of an address that signs up for several workspaces.
 */
export type Kind = "setup" | "save" | "decline"

/** The trials of the last 24 hours, by their kind. A save that is under way counts as a decline until it succeeds. */
export type Trials = Readonly<Record<Kind, number>>

export const none: Trials = { setup: 0, save: 0, decline: 0 }

export const withinMs = 24 * 3_600_000

/** Integrators save the cards of many honest customers from one address, so cards that are saved do not count there. */
const most: Readonly<Record<"workspace" | "address", Trials>> = {
  workspace: { setup: 24, save: 24, decline: 24 },
  address: { setup: 72, save: Infinity, decline: 72 }
}

/** Whose limit refuses a further setup, save or charge; null: it may be. */
export const refusal = (
  asked: "setup" | "save" | "charge",
  tried: { readonly workspace: Trials; readonly address: Trials }
): "workspace" | "address" | null => {
  const isOver = (by: "workspace" | "address") => {
    const { decline, save, setup } = tried[by]
    const limits = most[by]
    // A setup may decline a card where this service does not learn of it, so declines refuse setups as well.
    if (decline >= limits.decline) return true
    return asked === "setup" ? setup >= limits.setup : asked === "save" && save + decline >= limits.save
  }
  return isOver("workspace") ? "workspace" : isOver("address") ? "address" : null
}
