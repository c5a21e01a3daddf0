import * as TargetRules from "./TargetRules.ts"

/** The operator's rules for targets as they are now. Mutable: whoever keeps them sets them, and every request asks. */
export interface TargetPolicy {
  readonly rules: () => TargetRules.TargetRules
  readonly set: (rules: ReadonlyArray<TargetRules.Rule>) => void
  /** Told after each change; connections that were opened under other rules are not kept. */
  readonly onChange: (listener: () => void) => void
}

/** Without a rule yet. */
export const make = (): TargetPolicy => {
  const listeners: Array<() => void> = []
  let current = TargetRules.none
  return {
    rules: () => current,
    set: (rules) => {
      current = TargetRules.make(rules)
      for (const tell of listeners) tell()
    },
    onChange: (listener) => void listeners.push(listener)
  }
}
