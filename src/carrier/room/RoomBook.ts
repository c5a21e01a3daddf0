import type { CommandId, ConferenceId, LegId, MemberId } from "../../domain/Id.ts"
import { changedBy, type MemberChange } from "../../ports/media/MemberChange.ts"
import type { Bridgeable } from "../bridge/Bridges.ts"
import type { RoomCommand } from "./RoomCommand.ts"
import type { MemberFacts, RoomReport } from "./RoomEvent.ts"
import type { Join, Of, RoomMedia } from "./RoomMedia.ts"
import * as BookedRoom from "./BookedRoom.ts"
import * as RoomMember from "./RoomMember.ts"

type Member = RoomMember.RoomMember

interface Options {
  /** Null when there is no such leg. */
  readonly legOf: (legId: LegId) => Bridgeable | null
  /** Takes a leg out of its bridge, if it has one. */
  readonly unbridge: (legId: LegId) => void
  /** Reports to the conference, in the order of all the room's reports. `by` is the carrier that has the room. */
  readonly tell: (by: string, conferenceId: ConferenceId, report: RoomReport) => void
  readonly media: RoomMedia
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/**
 * Rooms and their members: a leg is in one room at most, and never in a room and in a bridge. It is pure bookkeeping
 * over media that answer later.
 *
 * A room and each leg in it report consistently: `member_joined` to the conference and `room_joined` to the call, then
 * once that the member left, whatever the cause. A room that is over has reported for each member that it left.
 */
export interface RoomBook {
  /** `by` names the carrier that got the command; a room belongs to the carrier for which it was made. */
  readonly command: (by: string, command: RoomCommand) => void
  readonly join: (command: Join) => void
  /** The call takes its leg out of the room. */
  readonly leave: (legId: LegId) => void
  /** The leg is needed elsewhere. */
  readonly part: (legId: LegId) => void
  /** The leg has ended, and reports nothing any more. */
  readonly ended: (legId: LegId) => void
  /** The member's sound shows that it begins or ends to speak. */
  readonly spoke: (conferenceId: ConferenceId, memberId: MemberId, isSpeaking: boolean) => void
  /** The media of the room report an event. */
  readonly told: (conferenceId: ConferenceId, event: Extract<RoomReport, { readonly type: "media" }>["event"]) => void
  /** The media of the room are gone. */
  readonly lost: (conferenceId: ConferenceId) => void
  /** The room has no owner, so it ends. */
  readonly disowned: (conferenceId: ConferenceId) => void
  /** The end of the room is committed, so the room is forgotten. */
  readonly forget: (conferenceId: ConferenceId) => void
  /** The carrier that has the room; null when there is none. */
  readonly ownerOf: (conferenceId: ConferenceId) => string | null
  /** Whether it has ended without reporting its end yet. */
  readonly isEnding: (conferenceId: ConferenceId) => boolean
  /** The rooms of this carrier, including those whose end is not committed. */
  readonly roomsOf: (by: string) => ReadonlyArray<ConferenceId>
  readonly members: (conferenceId: ConferenceId) => ReadonlyArray<MemberFacts>
}

const isSilenced = ({ flags }: Member): boolean => flags.isMuted || flags.isHeld

export const make = ({ legOf, media, now, tell, unbridge }: Options): RoomBook => {
  const rooms = new Map<ConferenceId, BookedRoom.BookedRoom>()
  const byLeg = new Map<LegId, Member>()

  /** The room, if it takes commands. */
  const openRoom = (id: ConferenceId): BookedRoom.BookedRoom | null => {
    const room = rooms.get(id)
    return room !== undefined && BookedRoom.isOpen(room) ? room : null
  }

  const report = ({ by, id }: BookedRoom.BookedRoom, news: RoomReport): void => tell(by, id, news)
  const fail = (by: string, { commandId, conferenceId }: RoomCommand, reason: string): void =>
    tell(by, conferenceId, { type: "command_failed", commandId, reason })
  const failJoin = (legId: LegId, commandId: CommandId, reason: string): void =>
    legOf(legId)?.tell({ type: "command_failed", commandId, reason })

  const whenIn = ({ behind, stands }: Member, act: (stands: boolean) => void): void =>
    stands ? act(true) : void behind.push(act)

  const settle = <Outcome>(waiting: Array<(outcome: Outcome) => void>, outcome: Outcome): void => {
    for (const each of waiting.splice(0)) each(outcome)
  }

  const tellSpeaking = (room: BookedRoom.BookedRoom, member: Member, isSpeaking: boolean): void => {
    if (member.isSpeaking === isSpeaking) return
    member.isSpeaking = isSpeaking
    report(room, { type: "member_speaking", memberId: member.of.memberId, isSpeaking })
  }

  const tellLegJoined = (member: Member): void => {
    const { conferenceId, legId, memberId } = member.of
    member.asked = []
    legOf(legId)?.tell({ type: "room_joined", conferenceId, memberId })
  }

  /** Takes the member out. Its leg continues, or is gone. */
  const takeOut = (member: Member, reason: string, leg: "goes_on" | "leaves" | "gone"): void => {
    const { conferenceId, legId, memberId } = member.of
    const room = rooms.get(conferenceId)
    byLeg.delete(legId)
    room?.members.delete(memberId)
    if (leg !== "gone") media.leave(legId)
    for (const commandId of member.asked) failJoin(legId, commandId, reason)
    settle(member.behind, false)
    // A call that sent its leg out waits for this outcome, even if the leg had not joined yet.
    if (leg === "leaves" || (leg === "goes_on" && member.stands))
      legOf(legId)?.tell({ type: "room_left", conferenceId, memberId })
    if (room === undefined || !member.stands) return
    tellSpeaking(room, member, false)
    report(room, { type: "member_left", memberId, ...(leg === "gone" ? { isCallOver: true as const } : {}) })
  }

  const takeOutLeg = (legId: LegId, ...how: [reason: string, leg: "goes_on" | "leaves" | "gone"]): void => {
    const member = byLeg.get(legId)
    if (member !== undefined) takeOut(member, ...how)
  }

  const refusalOf = ({ conferenceId, legId, memberId }: Join): string | null => {
    const leg = legOf(legId)
    if (leg === null) return "unknown_leg"
    if (!leg.isTalking()) return "not_answered"
    const room = openRoom(conferenceId)
    if (room === null) return "unknown_room"
    if (room.removed.has(memberId)) return "removed"
    const same = room.members.get(memberId)
    return same === undefined || same.of.legId === legId ? null : "already_joined"
  }

  const entered = (member: Member, refusal: string | null): void => {
    const { callId, conferenceId, legId, memberId } = member.of
    // The member left while the media worked on it.
    if (byLeg.get(legId) !== member) return
    const room = rooms.get(conferenceId)
    if (refusal !== null || room === undefined) {
      byLeg.delete(legId)
      room?.members.delete(memberId)
      for (const commandId of member.asked) failJoin(legId, commandId, refusal ?? "unknown_room")
      return settle(member.behind, false)
    }
    member.stands = true
    member.since = now()
    member.changedAt = member.since
    report(room, { type: "member_joined", memberId, callId, legId })
    tellLegJoined(member)
    settle(member.behind, true)
  }

  const join = (command: Join): void => {
    const { commandId, conferenceId, legId, memberId } = command
    const refusal = refusalOf(command)
    const room = openRoom(conferenceId)
    if (refusal !== null || room === null) return failJoin(legId, commandId, refusal ?? "unknown_room")
    const known = room.members.get(memberId)
    if (known !== undefined) {
      known.asked.push(commandId)
      return known.stands ? tellLegJoined(known) : undefined
    }
    takeOutLeg(legId, "left", "goes_on")
    unbridge(legId)
    const member = RoomMember.make(command)
    room.members.set(memberId, member)
    byLeg.set(legId, member)
    BookedRoom.whenLive(room, (isLive) => {
      if (isLive && byLeg.get(legId) === member) media.enter(command, (refused) => entered(member, refused))
    })
  }

  const create = (by: string, command: Of<"create">): void => {
    const id = command.conferenceId
    const known = rooms.get(id)
    if (known !== undefined) {
      if (known.phase === "live") report(known, { type: "live" })
      else if (known.phase !== "opening") fail(by, command, "over")
      return
    }
    const room = BookedRoom.make(by, id)
    rooms.set(id, room)
    media.open(command, (refusal) => {
      // The room ended while the media worked on it.
      if (room.phase !== "opening") return
      if (refusal === null) {
        room.phase = "live"
        report(room, { type: "live" })
        return settle(room.behind, true)
      }
      letGo(room)
      rooms.delete(id)
      fail(by, command, refusal)
      settle(room.behind, false)
    })
  }

  /** Empties the room and closes it to new members. */
  const letGo = (room: BookedRoom.BookedRoom): void => {
    room.phase = "ending"
    for (const member of room.members.values()) takeOut(member, "unknown_room", "goes_on")
  }

  const tellOver = (room: BookedRoom.BookedRoom): void => {
    if (room.phase !== "ending") return
    room.phase = "over"
    report(room, { type: "over" })
  }

  const end = (room: BookedRoom.BookedRoom): void => {
    if (!BookedRoom.isOpen(room)) return
    letGo(room)
    settle(room.behind, false)
    media.close(room.id, () => tellOver(room))
  }

  const remove = (by: string, { conferenceId, memberId }: Of<"remove">): void => {
    const room = openRoom(conferenceId)
    const member = room?.members.get(memberId)
    if (member !== undefined) takeOut(member, "removed", "goes_on")
    if (member?.stands === true) return
    if (room !== null) BookedRoom.keepOut(room, memberId)
    tell(rooms.get(conferenceId)?.by ?? by, conferenceId, { type: "member_left", memberId })
  }

  /** Changes a member that is in, or does so as soon as it is. */
  const change = (room: BookedRoom.BookedRoom, command: Of<MemberChange["type"]>): void => {
    const { commandId: _, conferenceId: __, memberId, ...asked } = command
    const member = room.members.get(memberId)
    if (member === undefined) return fail(room.by, command, "unknown_member")
    whenIn(member, (stands) => {
      if (!stands) return fail(room.by, command, "unknown_member")
      media.change(room.id, memberId, asked)
      RoomMember.change(member, asked, now())
      if (isSilenced(member)) tellSpeaking(room, member, false)
      report(room, { ...changedBy(asked), memberId })
    })
  }

  const obey = (room: BookedRoom.BookedRoom, command: Exclude<RoomCommand, Of<"create" | "end" | "remove">>): void => {
    switch (command.type) {
      case "beep":
        return BookedRoom.whenLive(room, (isLive) => {
          if (isLive) media.beep(room.id, command.except)
        })
      case "media":
        return BookedRoom.whenLive(room, (isLive) =>
          isLive ? media.command(command) : fail(room.by, command, "unknown_room")
        )
      default:
        return change(room, command)
    }
  }

  return {
    command: (by, command) => {
      if (command.type === "create") return create(by, command)
      if (command.type === "remove") return remove(by, command)
      const room = rooms.get(command.conferenceId)
      if (command.type === "end")
        return room === undefined ? tell(by, command.conferenceId, { type: "over" }) : end(room)
      const open = openRoom(command.conferenceId)
      if (open !== null) return obey(open, command)
      if (command.type !== "beep") fail(room?.by ?? by, command, "unknown_room")
    },
    join,
    leave: (legId) => takeOutLeg(legId, "left", "leaves"),
    part: (legId) => takeOutLeg(legId, "left", "goes_on"),
    ended: (legId) => takeOutLeg(legId, "unknown_leg", "gone"),
    spoke: (conferenceId, memberId, isSpeaking) => {
      const room = openRoom(conferenceId)
      const member = room?.members.get(memberId)
      if (room === null || member?.stands !== true) return
      // The media may have reported this before they learned of the change.
      if (isSpeaking && isSilenced(member)) return
      tellSpeaking(room, member, isSpeaking)
    },
    told: (conferenceId, event) => {
      const room = rooms.get(conferenceId)
      if (room !== undefined && room.phase !== "over") report(room, { type: "media", event })
    },
    lost: (conferenceId) => {
      const room = openRoom(conferenceId)
      if (room === null) return
      letGo(room)
      settle(room.behind, false)
      tellOver(room)
    },
    disowned: (conferenceId) => {
      const room = rooms.get(conferenceId)
      if (room !== undefined) end(room)
    },
    forget: (conferenceId) => {
      if (rooms.get(conferenceId)?.phase === "over") rooms.delete(conferenceId)
    },
    ownerOf: (conferenceId) => rooms.get(conferenceId)?.by ?? null,
    isEnding: (conferenceId) => rooms.get(conferenceId)?.phase === "ending",
    roomsOf: (by) => [...rooms.values()].flatMap((room) => (room.by === by ? [room.id] : [])),
    members: (conferenceId) => {
      const at = now()
      const all = [...(rooms.get(conferenceId)?.members.values() ?? [])]
      return all.flatMap((member) => (member.stands ? [RoomMember.facts(member, at)] : []))
    }
  }
}
