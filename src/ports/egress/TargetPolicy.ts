import * as TargetRules from "./TargetRules.ts"

/**
 * The operator's current rules for targets. It is mutable: `tenancy/target` sets the rules, and every request reads
 * them.
 */
export interface TargetPolicy {
  readonly rules: () => TargetRules.TargetRules
  readonly set: (rules: ReadonlyArray<TargetRules.Rule>) => void
  /** The listener is called after each change, because connections that were opened under other rules are not kept. */
  readonly onChange: (listener: () => void) => void
}

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
