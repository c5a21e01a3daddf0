/** Values in order of arrival, and waits for further ones. */
export interface Tape<A> {
  readonly all: ReadonlyArray<A>
  readonly push: (value: A) => void
  /** The first value that fits, now or later; rejects after 30 seconds with the values that came instead. */
  readonly next: (what: string, fits: (value: A) => boolean) => Promise<A>
  /** The result of `look` at all values, now or later. */
  readonly until: <B>(what: string, look: (all: ReadonlyArray<A>) => B | undefined) => Promise<B>
}

const patienceMs = 30_000

export const make = <A>(show: (value: A) => string): Tape<A> => {
  const all: Array<A> = []
  const waiting = new Set<() => void>()
  const until = <B>(what: string, look: (all: ReadonlyArray<A>) => B | undefined): Promise<B> =>
    new Promise((resolve, reject) => {
      const found = look(all)
      if (found !== undefined) return resolve(found)
      const check = (): void => {
        const value = look(all)
        if (value === undefined) return
        done()
        resolve(value)
      }
      const timer = setTimeout(() => {
        done()
        reject(new Error(`in vain: ${what}, after ${all.map(show).join(", ") || "nothing"}`))
      }, patienceMs)
      const done = (): void => {
        clearTimeout(timer)
        waiting.delete(check)
      }
      waiting.add(check)
    })
  return {
    all,
    push: (value) => {
      all.push(value)
      for (const check of waiting) check()
    },
    next: (what, fits) => until(what, (values) => values.find(fits)),
    until
  }
}
