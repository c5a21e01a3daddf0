import type { CommandId, LegId } from "../domain/Id.ts"
import type { Authority } from "./CarrierCommand.ts"

/**
 * What a carrier remembers of each leg, so that nothing is applied twice and no event loses its place: the commands it
 * took, and the number of the last event.
 *
 * A leg is remembered while it lives and `keepMs` after its last command or event, which is longer than an engine that
 * is gone is waited for. Per leg the last `idRoom` commands are known: more than a call keeps pending.
 */
export interface LegMemory {
  /**
   * Whether a command is to be carried out, and if so remembers it: not when it comes from an owner that was replaced,
   * not when it was taken before, and not when its leg has ended, of which its call is told.
   */
  readonly admits: (order: {
    readonly authority: Authority
    readonly command: { readonly legId: LegId; readonly commandId: CommandId }
  }) => boolean
  /** From here on only owners of this epoch or a newer one command the legs of the partition. */
  readonly obey: (authority: Authority) => boolean
  /** The number of the leg's next event: 1, 2, 3 and so on. Nothing follows the one that `isEnd`. */
  readonly next: (legId: LegId, isEnd: boolean) => number
  /** The number of its last event; 0: there was none. */
  readonly last: (legId: LegId) => number
}

export const keepMs = 120_000
export const idRoom = 128

interface Remembered {
  readonly commands: Set<CommandId>
  events: number
  ended: boolean
  until: number
}

export const make = (options: {
  /** Milliseconds. */
  readonly now: () => number
  readonly isLive: (legId: LegId) => boolean
}): LegMemory => {
  const { isLive, now } = options
  const epochs = new Map<number, number>()
  /** In the order in which they were last touched. */
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
      if (!obey(authority)) return false
      const { commands, ended } = touch(command.legId)
      if (ended || commands.has(command.commandId)) return false
      commands.add(command.commandId)
      for (const oldest of commands) {
        if (commands.size <= idRoom) break
        commands.delete(oldest)
      }
      return true
    },
    next: (legId, isEnd) => {
      const leg = touch(legId)
      leg.ended ||= isEnd
      return ++leg.events
    },
    last: (legId) => legs.get(legId)?.events ?? 0
  }
}
