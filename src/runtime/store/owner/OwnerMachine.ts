/**
 * When a process may take the partitions of the journal, and how it keeps them (src/README.md#two-processes), as a pure
 * machine. A shell does one act at a time and feeds its answer back (`Ownership.ts`).
 *
 * Two things must fail before an owner is replaced: its lock, which goes with its connection, and its sign of life. An
 * owner whose connection broke takes the lock again on a new one, so it is replaced only when it is silent too. The
 * epoch is raised by comparison with the sign that was last seen, so one that spoke meanwhile stays the owner.
 */

/** What the row of a partition shows of its owner. */
export interface Sign {
  /** 0: nobody ever owned it. */
  readonly epoch: number
  /** Another one with each sign of life. */
  readonly beat: string
  /** The data directory of the owner; null: not known. */
  readonly holder: string | null
  /** The owner stopped in order. */
  readonly hasEnded: boolean
}

export type Signs = ReadonlyMap<number, Sign>

interface Seen {
  readonly sign: Sign
  /** Since when this sign has been seen, and nothing but it, by the monotonic clock. */
  readonly sinceMs: number
}

interface Watch {
  readonly seen: ReadonlyMap<number, Seen>
  /** The last look that was answered in an unbroken watch; null: the watch begins. */
  readonly lookedAtMs: number | null
}

export type State =
  | ({ readonly type: "watching" } & Watch)
  /** Every partition looks free: it asks for the locks. */
  | ({ readonly type: "locking" } & Watch)
  /** It has the locks and raises the epochs. */
  | ({ readonly type: "raising" } & Watch)
  | {
      readonly type: "owning"
      /** Partition to epoch; those that were lost are not in it. */
      readonly epochs: ReadonlyMap<number, number>
      readonly isLocked: boolean
      readonly next: "beat" | "lock"
    }
  | { readonly type: "lost" }

export type Input =
  | { readonly type: "Looked"; readonly signs: Signs }
  /** All locks are held, or none is. */
  | { readonly type: "Locked"; readonly isLocked: boolean }
  /** Null: some sign was another one by now, nothing was raised, and the locks are given back. */
  | { readonly type: "Raised"; readonly epochs: ReadonlyMap<number, number> | null }
  /** The partitions that are still held under their epochs. */
  | { readonly type: "Beaten"; readonly held: ReadonlyArray<number> }
  /** A statement had no answer. The connection is given up, and the locks with it. */
  | { readonly type: "Disconnected" }

export interface Act {
  readonly type: "look" | "lock" | "raise" | "beat"
  readonly afterMs: number
}

export interface Options {
  readonly partitions: ReadonlyArray<number>
  /** Ours, as `Sign.holder` has it: an owner with our data directory is dead, because we own that. */
  readonly holder: string | null
  readonly heartbeatMs: number
}

/** Between two looks of one that waits, and between two attempts to get the lock back. */
export const pollMs = 500
/** An owner is silent when its sign has not changed for so long: seven signs of life are missing. */
export const silentMs = 15_000
/** A look that comes so late does not go on with the watch: its process or the database was away. */
export const gapMs = 2_000

export const initial: State = { type: "watching", seen: new Map(), lookedAtMs: null }

/** `epochs`: raised already. */
export const owning = (epochs: ReadonlyMap<number, number>): State =>
  epochs.size === 0 ? { type: "lost" } : { type: "owning", epochs, isLocked: false, next: "lock" }

/** What to do next; null: nothing any more. */
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

/** `nowMs`: the monotonic clock of this process, when the answer is here. */
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

/** The signs that the epochs are raised over. */
export const signsOf = ({ seen }: Watch): Signs => new Map([...seen].map(([partition, { sign }]) => [partition, sign]))
