/**
 * The facts of the contract that were seen on one carrier while the rows run: verbs with the state in which they were
 * used and their answer, accepted fields, and every event with its data. Each fact is a text in the form of
 * `Contract.ts`.
 */
export interface Seen {
  readonly facts: ReadonlySet<string>
  /** Notes a verb in a state: `play answered 200`, `play ended call_already_ended`. */
  readonly verb: (verb: string, state: string, outcome: string) => void
  /** Notes an accepted body: `transfer.timeout_secs`, and `start_recording.format=wav` where a field has few values. */
  readonly body: (of: string, body: object) => void
  readonly error: (code: string) => void
  /** Notes `call.ended`, `call.ended.end_reason=timeout`, and each field that was not null. */
  readonly event: (type: string, data: Readonly<Record<string, unknown>>) => void
}

/** Whether a value is one of a few: neither a number nor free text. */
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
