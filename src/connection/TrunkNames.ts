import { Effect, Schedule } from "effect"

/**
 * Where trunks that are given by name are found, so that an INVITE from such an address is known
 * (guide/connections.md#sip-trunks).
 *
 * Names are resolved when they are added and every minute; an answer that fails leaves the last one standing. At most
 * `capacity` names, beyond it the rest are not watched (they can still be dialled).
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly capacity: number
  /** IPv4 and IPv6 addresses of a name; a failure is an empty answer. */
  readonly lookup: (name: string) => Effect.Effect<ReadonlyArray<string>>
  readonly names: Effect.Effect<ReadonlyArray<string>>
  /** Told when the addresses of a name were not those of before. */
  readonly onChange: Effect.Effect<void>
}) {
  const addresses = new Map<string, ReadonlyArray<string>>()

  const refresh = Effect.fnUntraced(function* (name: string) {
    const found = [...(yield* options.lookup(name))].sort()
    const before = addresses.get(name)
    if (found.length === 0 || before?.join() === found.join()) return
    if (before === undefined && addresses.size >= options.capacity)
      return yield* Effect.logWarning(`more than ${options.capacity} trunk names: ${name} is not watched for calls`)
    addresses.set(name, found)
    yield* options.onChange
  })

  const refreshAll = Effect.flatMap(options.names, (names) =>
    Effect.forEach(names, refresh, { concurrency: 16, discard: true })
  ).pipe(Effect.catchCause((cause) => Effect.logWarning("trunk names could not be resolved", cause)))

  yield* refreshAll.pipe(Effect.repeat(Schedule.spaced("1 minute")), Effect.forkScoped)

  return {
    refresh,
    /** Names that were found at this address. */
    at: (address: string): ReadonlyArray<string> =>
      [...addresses].filter(([, found]) => found.includes(address)).map(([name]) => name)
  }
})
