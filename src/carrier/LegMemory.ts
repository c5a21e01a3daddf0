import type { CommandId, LegId } from "../domain/Id.ts"
import type { Authority } from "./CarrierCommand.ts"

/**
 * The memory of a carrier for each leg: the commands it took, and the number of the last event. So no command is
 * applied twice, and no event loses its place.
 *
 * A leg is remembered while it lives, and for `keepMs` after its last command or event: longer than anybody waits for
 * an engine that is gone. For each leg the memory holds the last `idRoom` commands, more than a call keeps pending.
 */
export interface LegMemory {
  /** Whether a command is to be carried out; the command is remembered, unless its owner was replaced. */
  readonly admits: (order: {
    readonly authority: Authority
    readonly command: { readonly legId: LegId; readonly commandId: CommandId }
  }) => Admitted
  /**
   * From here on only owners of this epoch or a newer one command the legs of the partition; false: a newer one did.
   */
  readonly obey: (authority: Authority) => boolean
  /** Counts up the number of the leg's last event and returns it: 1, 2, 3 and so on. `isEnd`: it is the last one. */
  readonly next: (legId: LegId, isEnd: boolean) => number
  /** The number of the leg's last event; 0: there was none. */
  readonly last: (legId: LegId) => number
}

/**
 * `no`: its owner was replaced, or the command was taken before. `over`: its leg has ended. The call hears of that end
 * anyway; but its work may outlive a leg, so what became of such a command has to be told behind the end.
 */
export type Admitted = "yes" | "over" | "no"

export const keepMs = 120_000
export const idRoom = 128

interface Remembered {
  readonly commands: Set<CommandId>
  events: number
  ended: boolean
  until: number
}

export const make = (options: {
  /** The monotonic clock, milliseconds. */
  readonly now: () => number
  readonly isLive: (legId: LegId) => boolean
}): LegMemory => {
  const { isLive, now } = options
  const epochs = new Map<number, number>()
  /** In the order of their last command or event. */
  const legs = new Map<LegId, Remembered>()

  const forget = (at: number): void => {
    for (const [legId, leg] of legs) {
      if (leg.until > at) return
      legs.delete(legId)
      if (isLive(legId)) legs.set(legId, { ...leg, until: at + keepMs })
    }
  }

  const touch = (legId: LegId): Remembered => {
    const at = now()
    forget(at)
    const leg = legs.get(legId) ?? { commands: new Set<CommandId>(), events: 0, ended: false, until: 0 }
    leg.until = at + keepMs
    legs.delete(legId)
    legs.set(legId, leg)
    return leg
  }

  const obey: LegMemory["obey"] = ({ epoch, partition }) => {
    const newest = epochs.get(partition)
    if (newest !== undefined && newest > epoch) return false
    epochs.set(partition, epoch)
    return true
  }

  return {
    obey,
    admits: ({ authority, command }) => {
      if (!obey(authority)) return "no"
      const { commands, ended } = touch(command.legId)
      if (commands.has(command.commandId)) return "no"
      commands.add(command.commandId)
      for (const oldest of commands) {
        if (commands.size <= idRoom) break
        commands.delete(oldest)
      }
      return ended ? "over" : "yes"
    },
    next: (legId, isEnd) => {
      const leg = touch(legId)
      leg.ended ||= isEnd
      return ++leg.events
    },
    last: (legId) => legs.get(legId)?.events ?? 0
  }
}
