/**
 * Decides when a process may take the partitions of the journal, and how it keeps them
 * (src/runtime/README.md#two-processes), as a pure machine. A shell does one act at a time and feeds its answer back
 * (`Ownership.ts`).
 *
 * Two things must fail before an owner is replaced: its lock, which is lost with its connection, and its heartbeat. An
 * owner whose connection broke takes the lock again on a new one, so it is replaced only when its heartbeat has stopped
 * too. The epoch is raised only if the sign is still the last one seen, so an owner with a heartbeat meanwhile stays
 * the owner.
 */

/** The state of a partition's owner, as the partition's row shows it. */
export interface Sign {
  /** 0: the partition was never owned. */
  readonly epoch: number
  /** A text that changes with each heartbeat. */
  readonly beat: string
  /** The data directory of the owner; null: unknown. */
  readonly holder: string | null
  /** True when the owner stopped in order. */
  readonly hasEnded: boolean
}

export type Signs = ReadonlyMap<number, Sign>

interface Seen {
  readonly sign: Sign
  /** The monotonic time since which every look has seen this same sign. */
  readonly sinceMs: number
}

interface Watch {
  readonly seen: ReadonlyMap<number, Seen>
  /** The time of the last answered look of an unbroken watch; null: the watch begins. */
  readonly lookedAtMs: number | null
}

export type State =
  | ({ readonly type: "watching" } & Watch)
  | ({ readonly type: "locking" } & Watch)
  | ({ readonly type: "raising" } & Watch)
  | {
      readonly type: "owning"
      /** The epochs by partition, without the lost partitions. */
      readonly epochs: ReadonlyMap<number, number>
      readonly isLocked: boolean
      readonly next: "beat" | "lock"
    }
  | { readonly type: "lost" }

export type Input =
  | { readonly type: "Looked"; readonly signs: Signs }
  /** Either all locks are held, or none is. */
  | { readonly type: "Locked"; readonly isLocked: boolean }
  /** Null: a sign has changed meanwhile, nothing was raised, and the locks are given back. */
  | { readonly type: "Raised"; readonly epochs: ReadonlyMap<number, number> | null }
  /** The partitions that are still held under their epochs. */
  | { readonly type: "Beaten"; readonly held: ReadonlyArray<number> }
  /** A statement had no answer. The connection is given up, and the locks are lost with it. */
  | { readonly type: "Disconnected" }

export interface Act {
  readonly type: "look" | "lock" | "raise" | "beat"
  readonly afterMs: number
}

export interface Options {
  readonly partitions: ReadonlyArray<number>
  /**
   * The data directory of this process. An owner with the same one (`Sign.holder`) is dead, because this process owns
   * it.
   */
  readonly holder: string | null
  readonly heartbeatMs: number
}

/** The time between two looks of a waiting process, and between two attempts to get the lock back. */
export const pollMs = 500
/** An owner is silent when its sign has not changed for this time: seven heartbeats are missing. */
export const silentMs = 15_000
/** A look that comes later than this begins a new watch, because this process or the database was not working. */
const gapMs = 2_000

export const initial: State = { type: "watching", seen: new Map(), lookedAtMs: null }

/** The state of a process that has already raised these epochs. */
export const owning = (epochs: ReadonlyMap<number, number>): State =>
  epochs.size === 0 ? { type: "lost" } : { type: "owning", epochs, isLocked: false, next: "lock" }

/** Gives the next act; null: there is none any more. */
export const act = (options: Options, state: State): Act | null => {
  switch (state.type) {
    case "watching":
      return { type: "look", afterMs: state.lookedAtMs === null ? 0 : pollMs }
    case "locking":
      return { type: "lock", afterMs: 0 }
    case "raising":
      return { type: "raise", afterMs: 0 }
    case "owning":
      return state.next === "lock"
        ? { type: "lock", afterMs: 0 }
        : { type: "beat", afterMs: state.isLocked ? options.heartbeatMs : Math.min(pollMs, options.heartbeatMs) }
    case "lost":
      return null
  }
}

/** `nowMs`: this process's monotonic clock when the answer arrives. */
export const step = (options: Options, state: State, input: Input, nowMs: number): State => {
  switch (state.type) {
    case "watching":
      if (input.type === "Looked") return looked(options, state, input.signs, nowMs)
      return input.type === "Disconnected" ? { ...state, lookedAtMs: null } : state
    case "locking":
      if (input.type === "Locked") return { ...state, type: input.isLocked ? "raising" : "watching" }
      return input.type === "Disconnected" ? { ...state, type: "watching", lookedAtMs: null } : state
    case "raising":
      if (input.type === "Raised")
        return input.epochs === null
          ? { ...state, type: "watching" }
          : { type: "owning", epochs: input.epochs, isLocked: true, next: "beat" }
      return input.type === "Disconnected" ? { ...state, type: "watching", lookedAtMs: null } : state
    case "owning":
      switch (input.type) {
        case "Beaten": {
          const epochs = new Map([...state.epochs].filter(([partition]) => input.held.includes(partition)))
          return epochs.size === 0 ? { type: "lost" } : { ...state, epochs, next: state.isLocked ? "beat" : "lock" }
        }
        case "Locked":
          return { ...state, isLocked: input.isLocked, next: "beat" }
        case "Disconnected":
          return { ...state, isLocked: false, next: "beat" }
        case "Looked":
        case "Raised":
          return state
      }
    case "lost":
      return state
  }
}

const looked = (options: Options, watch: Watch, signs: Signs, nowMs: number): State => {
  const isUnbroken = watch.lookedAtMs !== null && nowMs - watch.lookedAtMs <= gapMs
  const seen = new Map(
    [...signs].map(([partition, sign]): [number, Seen] => {
      const before = watch.seen.get(partition)
      const goesOn = isUnbroken && before !== undefined && isSame(before.sign, sign)
      return [partition, { sign, sinceMs: goesOn ? before.sinceMs : nowMs }]
    })
  )
  const isFree = (partition: number): boolean => {
    const found = seen.get(partition)
    if (found === undefined) return true
    const { sign, sinceMs } = found
    return (
      sign.epoch === 0 ||
      sign.hasEnded ||
      (sign.holder !== null && sign.holder === options.holder) ||
      nowMs - sinceMs >= silentMs
    )
  }
  return { type: options.partitions.every(isFree) ? "locking" : "watching", seen, lookedAtMs: nowMs }
}

const isSame = (one: Sign, other: Sign): boolean => one.epoch === other.epoch && one.beat === other.beat

/** The signs with which the rows are compared when the epochs are raised. */
export const signsOf = ({ seen }: Watch): Signs => new Map([...seen].map(([partition, { sign }]) => [partition, sign]))
