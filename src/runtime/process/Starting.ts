import { Context } from "effect"

/** The start of the process, as its parts see it. */
export interface Starting {
  /** No request waits while the process starts, so its parts may take longer then. */
  readonly isOver: () => boolean
  /** Reports something that the start waits for, until the returned function is called. */
  readonly awaits: (what: string) => () => void
}

/** Without a start that says otherwise, it is over. */
export const Starting = Context.Reference<Starting>("trunkline/process/Starting", {
  defaultValue: () => ({ isOver: () => true, awaits: () => nothing })
})

const nothing = () => undefined

/** `awaited` lists what the start waits for now, each once. */
export const make = (): Starting & { readonly awaited: () => ReadonlyArray<string>; readonly end: () => void } => {
  const waits = new Map<symbol, string>()
  let isOver = false
  return {
    isOver: () => isOver,
    awaits: (what) => {
      if (isOver) return nothing
      const wait = Symbol(what)
      waits.set(wait, what)
      return () => void waits.delete(wait)
    },
    awaited: () => [...new Set(waits.values())],
    end: () => {
      isOver = true
      waits.clear()
    }
  }
}
