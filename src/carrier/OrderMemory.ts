import type { CommandId } from "../domain/Id.ts"
import type { Authority } from "./CarrierCommand.ts"

/**
 * The memory of a carrier for each of its legs, or rooms: the commands it took, and the number of the last event. So no
 * command is applied twice, and no event loses its place.
 *
 * A leg or room is remembered while it lives, and for `keepMs` after its last command or event, which is longer than
 * any party waits for a media engine that is gone. The memory holds the last `idRoom` commands of each, more than its
 * owner keeps pending.
 */
export interface OrderMemory<Key extends string> {
  /** Whether a command is to be carried out. The command is remembered, unless its owner was replaced. */
  readonly admits: (authority: Authority, of: Key, commandId: CommandId) => Admitted
  /** From now on only this epoch or a newer one commands the partition's legs and rooms. False when a newer one did. */
  readonly obey: (authority: Authority) => boolean
  /** Counts up the number of the last event and returns it: 1, 2, 3 and so on. `isEnd` marks the last one. */
  readonly next: (of: Key, isEnd: boolean) => number
  /** The number of the last event; 0 when there was none. */
  readonly last: (of: Key) => number
}

/**
 * `no`: its owner was replaced, or the command was taken before. `over`: its leg or room has ended. The owner gets that
 * end anyway, but work may outlive a leg, so the outcome of such a command has to be reported after the end.
 */
type Admitted = "yes" | "over" | "no"

export const keepMs = 120_000
export const idCapacity = 128

interface Remembered {
  readonly commands: Set<CommandId>
  events: number
  ended: boolean
  until: number
}

export const make = <Key extends string>(options: {
  /** The monotonic clock in milliseconds. */
  readonly now: () => number
  readonly isLive: (of: Key) => boolean
  /** Default `idRoom`. */
  readonly idCapacity?: number
}): OrderMemory<Key> => {
  const { isLive, now } = options
  const mostIds = options.idCapacity ?? idCapacity
  const epochs = new Map<number, number>()
  /** The legs or rooms in the order of their last command or event. */
  const all = new Map<Key, Remembered>()

  const forget = (at: number): void => {
    for (const [key, one] of all) {
      if (one.until > at) return
      all.delete(key)
      if (isLive(key)) all.set(key, { ...one, until: at + keepMs })
    }
  }

  const touch = (key: Key): Remembered => {
    const at = now()
    forget(at)
    const one = all.get(key) ?? { commands: new Set<CommandId>(), events: 0, ended: false, until: 0 }
    one.until = at + keepMs
    all.delete(key)
    all.set(key, one)
    return one
  }

  const obey: OrderMemory<Key>["obey"] = ({ epoch, partition }) => {
    const newest = epochs.get(partition)
    if (newest !== undefined && newest > epoch) return false
    epochs.set(partition, epoch)
    return true
  }

  return {
    obey,
    admits: (authority, of, commandId) => {
      if (!obey(authority)) return "no"
      const { commands, ended } = touch(of)
      if (commands.has(commandId)) return "no"
      commands.add(commandId)
      for (const oldest of commands) {
        if (commands.size <= mostIds) break
        commands.delete(oldest)
      }
      return ended ? "over" : "yes"
    },
    next: (of, isEnd) => {
      const one = touch(of)
      one.ended ||= isEnd
      return ++one.events
    },
    last: (of) => all.get(of)?.events ?? 0
  }
}
