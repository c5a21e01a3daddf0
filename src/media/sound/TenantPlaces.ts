import { Effect, Semaphore } from "effect"

/** Gives each holder `places`, so that one with much work takes no more. The caller bounds how many wait. */
export const make = (places: number) => {
  const holders = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()

  const enter = (name: string) =>
    Effect.sync(() => {
      const holder = holders.get(name) ?? { semaphore: Semaphore.makeUnsafe(places), users: 0 }
      holders.set(name, holder)
      holder.users++
      return holder
    })

  return {
    within:
      (name: string) =>
      <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.acquireUseRelease(
          enter(name),
          ({ semaphore }) => semaphore.withPermits(1)(effect),
          (holder) =>
            Effect.sync(() => {
              holder.users--
              if (holder.users === 0) holders.delete(name)
            })
        )
  }
}
