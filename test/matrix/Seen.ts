/**
 * What was seen of the contract on one carrier, written down while the rows run: verbs by the state in which they
 * were used and what they answered, the fields that were accepted, and every event with its data. Each fact is a text,
 * as `Contract.ts` has it.
 */
export interface Seen {
  readonly facts: ReadonlySet<string>
  /** A verb that was used in a state: `play answered 200`, `play ended call_already_ended`. */
  readonly verb: (verb: string, state: string, outcome: string) => void
  /** A body that was accepted: `transfer.timeout_secs`, and `start_recording.format=wav` of what is one of a few. */
  readonly body: (of: string, body: object) => void
  readonly error: (code: string) => void
  /** `call.ended`, `call.ended.end_reason=timeout`, and each field that was not null. */
  readonly event: (type: string, data: Readonly<Record<string, unknown>>) => void
}

/** A value that is one of a few: no number that is counted, no text that is free. */
const isWord = (value: unknown): boolean => typeof value === "boolean" || /^[A-Za-z][A-Za-z0-9_-]*$/.test(String(value))

export const make = (): Seen => {
  const facts = new Set<string>()
  const fields = (of: string, values: object): void => {
    for (const [name, value] of Object.entries(values)) {
      if (value === null) continue
      facts.add(`${of}.${name}`)
      if (typeof value !== "object" && isWord(value)) facts.add(`${of}.${name}=${String(value)}`)
    }
  }
  return {
    facts,
    verb: (verb, state, outcome) => void facts.add(`${verb} ${state} ${outcome}`),
    body: fields,
    error: (code) => void facts.add(`error ${code}`),
    event: (type, data) => {
      facts.add(type)
      fields(type, data)
    }
  }
}
