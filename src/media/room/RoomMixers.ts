import type { LegId } from "../../domain/Id.ts"
import type { LocalLeg } from "../plane/LocalLeg.ts"
import type { BridgeRefusal, Command, Event } from "../plane/Protocol.ts"
import type { Slots, Ticked } from "../plane/Slots.ts"
import type * as Taps from "../mix/Tap.ts"
import * as RoomMixer from "./RoomMixer.ts"
import type { Entry } from "../../ports/media/MemberChange.ts"

interface Options extends Taps.Options {
  readonly slots: Slots
  readonly emit: (event: Event) => void
  /** An internal error ended the sound of this leg. */
  readonly onFault: (leg: LocalLeg, error: unknown) => void
}

interface Place {
  readonly room: RoomMixer.RoomMixer
  readonly turn: Ticked
}

/** The rooms of a switch, with their commands and events. An internal error ends one room, and no leg. */
export const make = ({ clock, cpuClock = clock, emit, onDefect, onFault, slots }: Options) => {
  const places = new Map<LegId, Place>()
  /** Closed rooms with one more round to go, in which their members hear them fade. */
  const closing = new Set<Place>()
  /** The gaps in the playbacks of rooms that no longer exist. */
  let pastGaps = 0

  const free = (place: Place): void => {
    closing.delete(place)
    slots.remove(place.turn)
    place.room.free()
  }

  const remove = (id: LegId, place: Place): void => {
    places.delete(id)
    pastGaps += place.room.gaps()
    closing.add(place)
    place.room.close(clock())
    if (place.room.isEmpty()) free(place)
  }

  const fault = (id: LegId, place: Place, error: unknown): void => {
    onDefect(error)
    try {
      if (places.get(id) === place) {
        emit({ leg: id, type: "lost", reason: "plane_stopped" })
        remove(id, place)
      }
    } catch (second) {
      onDefect(second)
    }
    // The room is freed without its last round, which might fail again.
    free(place)
  }

  const placeOf = (id: LegId): Place => {
    const room = RoomMixer.make({
      id,
      clock,
      cpuClock,
      onDefect,
      onFault,
      emit: (event) => emit({ leg: id, ...event })
    })
    const turn: Ticked = {
      tick: (now) => {
        try {
          room.tick(now)
          if (closing.has(place)) free(place)
          else if (room.isEmpty()) slots.rest(turn)
        } catch (error) {
          fault(id, place, error)
        }
      },
      skip: () => undefined
    }
    const place: Place = { room, turn }
    return place
  }

  const carryOut = (command: Command, id: LegId, place: Place): void => {
    const { room } = place
    switch (command.type) {
      case "change_member":
        return room.set(command.memberId, command.change)
      case "room_beep":
        return room.beep(command.except)
      case "room_media":
        return room.command(command.media, command.to)
      case "media":
        return room.command(command.media, null)
      case "supply":
        return room.supply(command.id, command.sound, command.isLast)
      case "supply_failed":
        return room.fail(command.id, command.reason)
      case "capture":
      case "capture_taken":
      case "capture_silence":
      case "capture_stop":
        return room.capture(command)
      case "bridge":
      case "enter_room":
        return emit({ type: "bridge_refused", leg: id, reason: "unknown_leg" })
      case "press":
        return emit({ type: "press_taken", leg: id, isNew: true })
      case "close":
        remove(id, place)
        return emit({ type: "closed", leg: id })
      default:
        // Only a leg with a far end can do these.
        return
    }
  }

  return {
    has: (id: LegId): boolean => places.has(id),
    open: (id: LegId, now: number): void => {
      const place = placeOf(id)
      places.set(id, place)
      slots.add(place.turn, now)
      slots.rest(place.turn)
      emit({ type: "opened", leg: id, port: 0 })
    },
    handle: (id: LegId, command: Command): void => {
      const place = places.get(id)
      if (place === undefined) return
      try {
        carryOut(command, id, place)
      } catch (error) {
        fault(id, place, error)
      }
    },
    /** Adds a leg to a room. Returns the reason for a refusal, or null. */
    enter: (id: LegId, leg: LocalLeg, entry: Entry, now: number): BridgeRefusal | null => {
      const place = places.get(id)
      if (place === undefined) return "unknown_leg"
      if (leg.isJoined() || !place.room.join(leg, entry)) return "already_joined"
      slots.wake(place.turn, now)
      return null
    },
    /** Removes a leg from its room, if it is in one. */
    leave: (leg: LocalLeg, now: number): void => {
      for (const { room } of places.values()) room.leave(leg, now)
    },
    size: (): number => places.size,
    playbackGaps: (): number => [...places.values()].reduce((sum, { room }) => sum + room.gaps(), pastGaps),
    /** Ends every room at once. */
    close: (): void => {
      for (const [id, place] of places) {
        remove(id, place)
        emit({ type: "closed", leg: id })
      }
      for (const place of closing) free(place)
    }
  }
}
