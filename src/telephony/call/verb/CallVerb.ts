import type { Body, Verb } from "../../verb/Verb.ts"

/**
 * When the API may use a verb of a call.
 *
 * - `offered`: an inbound call that is neither answered nor being answered.
 * - `talking`: answered, bridged or not.
 * - `answered`: answered, and not bridged.
 * - `live`: not terminal.
 * - `running`: talking, and work of the verb's family is running.
 */
export type When = "offered" | "talking" | "answered" | "live" | "running"

/** A verb of call control, whose behaviour is in `OnAction`. The other verbs belong to a family, which has theirs. */
export const control = <S extends Body>(verb: Verb<S, When>) => ({ ...verb, family: null })
