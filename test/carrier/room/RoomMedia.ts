import { expect } from "@effect/vitest"
import * as Bridges from "../../../src/carrier/bridge/Bridges.ts"
import type { LegReport } from "../../../src/carrier/Carrier.ts"
import * as RoomBook from "../../../src/carrier/room/RoomBook.ts"
import type { RoomReport } from "../../../src/carrier/room/RoomEvent.ts"
import type { RoomCommand } from "../../../src/carrier/room/RoomCommand.ts"
import type { ConferenceId, LegId } from "../../../src/domain/Id.ts"
import * as Ids from "../../support/Ids.ts"

type Place = { readonly peer: LegId } | { readonly room: ConferenceId; readonly memberId: string }
/** A command without the fields that identify it. */
export type PlainRoom = RoomCommand extends infer Command
  ? Command extends RoomCommand
    ? Omit<Command, "commandId" | "conferenceId">
    : never
  : never

const ofRoom = (report: RoomReport): string => {
  switch (report.type) {
    case "member_joined":
    case "member_left":
      return `${report.type.slice(7)} ${report.memberId}`
    case "member_muted":
      return `${report.isMuted ? "muted" : "unmuted"} ${report.memberId}`
    case "member_held":
      return `${report.isHeld ? "held" : "unheld"} ${report.memberId}`
    case "member_supervises":
      return `${report.role} ${report.memberId} ${report.targets.join()}`.trim()
    case "member_speaking":
      return `${report.isSpeaking ? "speaks" : "silent"} ${report.memberId}`
    case "command_failed":
      return `failed ${report.commandId} ${report.reason}`
    case "media":
    case "live":
    case "over":
      return report.type
  }
}

const ofLeg = (report: LegReport): string => {
  switch (report.type) {
    case "room_joined":
    case "room_left":
      return `${report.type.slice(5)} ${report.memberId}`
    case "bridged":
    case "unbridged":
      return `${report.type} ${report.peerLegId}`
    case "command_failed":
      return `failed ${report.commandId} ${report.reason}`
    default:
      return report.type
  }
}

/** Rooms and bridges over media that carry out requests at once and in order, and answer when the test lets them. */
export const make = () => {
  const legs = new Map<LegId, Array<string>>()
  const rooms = new Map<ConferenceId, Array<string>>()
  const gone = new Set<LegId>()
  const open = new Set<ConferenceId>()
  /** The place of each leg in the media. */
  const places = new Map<LegId, Place>()
  const answers: Array<(refusal: string | null) => void> = []
  const asked: Array<string> = []
  let now = 0
  let commands = 0

  const note = <Key>(of: Map<Key, Array<string>>, key: Key, text: string) =>
    void of.set(key, [...(of.get(key) ?? []), text])
  const legOf = (legId: LegId) =>
    gone.has(legId) ? null : { isTalking: () => true, tell: (told: LegReport) => note(legs, legId, ofLeg(told)) }
  const isFree = (legId: LegId) => expect(places.get(legId), "it has left what it was in").toBeUndefined()
  const part = (legId: LegId): void => {
    const place = places.get(legId)
    if (place === undefined || !("peer" in place)) return
    places.delete(legId)
    places.delete(place.peer)
  }
  const takeOut = (legId: LegId): void => {
    const place = places.get(legId)
    if (place !== undefined && "room" in place) places.delete(legId)
  }
  const close = (id: ConferenceId): void => {
    open.delete(id)
    for (const [legId, place] of places) if ("room" in place && place.room === id) places.delete(legId)
  }

  const bridges = Bridges.make({
    legOf,
    join: (legId, peer, settled) => {
      const refusal = gone.has(legId) || gone.has(peer) ? "unknown_leg" : null
      if (refusal === null) {
        isFree(legId)
        isFree(peer)
        places.set(legId, { peer })
        places.set(peer, { peer: legId })
      }
      answers.push((forced) => {
        const place = places.get(legId)
        if (forced !== null && place !== undefined && "peer" in place && place.peer === peer) part(legId)
        settled(forced ?? refusal)
      })
    },
    part,
    leaveRoom: (legId) => book.part(legId)
  })

  const book: RoomBook.RoomBook = RoomBook.make({
    legOf,
    unbridge: bridges.unbridge,
    now: () => now,
    tell: (by, id, told) => note(rooms, id, by === "c" ? ofRoom(told) : `${by}: ${ofRoom(told)}`),
    media: {
      open: ({ conferenceId }, settled) => {
        open.add(conferenceId)
        answers.push((forced) => {
          if (forced !== null) close(conferenceId)
          settled(forced)
        })
      },
      enter: ({ conferenceId, legId, memberId }, settled) => {
        const refusal = gone.has(legId) ? "unknown_leg" : open.has(conferenceId) ? null : "unknown_room"
        if (refusal === null) {
          isFree(legId)
          places.set(legId, { room: conferenceId, memberId })
        }
        answers.push((forced) => {
          const place = places.get(legId)
          if (forced !== null && place !== undefined && "room" in place && place.memberId === memberId) takeOut(legId)
          settled(forced ?? refusal)
        })
      },
      leave: takeOut,
      change: (_, memberId, change) => void asked.push(`${memberId} ${JSON.stringify(change)}`),
      beep: (id, except) => void asked.push(`beep ${id} ${except}`),
      command: ({ media }) => void asked.push(media.type),
      close: (id, closed) => {
        close(id)
        answers.push(closed)
      }
    }
  })

  return {
    book,
    places,
    asked,
    answers,
    pass: (ms: number) => void (now += ms),
    ofLeg: (leg: string) => legs.get(Ids.leg(leg)) ?? [],
    ofRoom: (room: string) => rooms.get(Ids.conference(room)) ?? [],
    /** Sends a command by the carrier `by`; returns the id of the command. */
    command: (room: string, command: PlainRoom, by = "c") => {
      const commandId = Ids.command(`${++commands}`)
      book.command(by, { ...command, commandId, conferenceId: Ids.conference(room) })
      return commandId
    },
    create: (room: string) => {
      const create = { type: "create", tenantId: Ids.tenant("t"), near: Ids.leg("near") } as const
      book.command("c", { ...create, commandId: Ids.command(`${++commands}`), conferenceId: Ids.conference(room) })
    },
    join: (leg: string, room: string, member: string, flags: { readonly isMuted?: boolean } = {}) => {
      const commandId = Ids.command(`${++commands}`)
      book.join({
        type: "join_room",
        commandId,
        callId: Ids.call(`call of ${leg}`),
        legId: Ids.leg(leg),
        conferenceId: Ids.conference(room),
        memberId: Ids.member(member),
        isHost: false,
        isMuted: false,
        isHeld: false,
        ...flags
      })
      return commandId
    },
    leave: (leg: string) => book.leave(Ids.leg(leg)),
    bridge: (leg: string, peer: string) =>
      bridges.bridge({
        type: "bridge",
        commandId: Ids.command(`${++commands}`),
        legId: Ids.leg(leg),
        callId: Ids.call(`call of ${leg}`),
        peerLegId: Ids.leg(peer),
        peerCallId: Ids.call(`call of ${peer}`)
      }),
    unbridge: (leg: string) => bridges.unbridge(Ids.leg(leg)),
    bridgedWith: (leg: string) => bridges.facts(Ids.leg(leg)).bridge?.peerLegId ?? null,
    end: (leg: string) => {
      const legId = Ids.leg(leg)
      if (gone.has(legId)) return
      gone.add(legId)
      part(legId)
      takeOut(legId)
      bridges.ended(legId)
      book.ended(legId)
    },
    /** The media of the room are gone. */
    lose: (room: string) => {
      close(Ids.conference(room))
      book.lost(Ids.conference(room))
    },
    /** The media answer the oldest request. */
    answer: (refusal: string | null = null) => answers.shift()?.(refusal),
    /** The members by the bookkeeping, and by the media. */
    members: (room: string) => ({
      book: book
        .members(Ids.conference(room))
        .map(({ legId, memberId }) => `${legId} ${memberId}`)
        .toSorted(),
      media: [...places]
        .flatMap(([legId, place]) =>
          "room" in place && place.room === Ids.conference(room) ? [`${legId} ${place.memberId}`] : []
        )
        .toSorted()
    })
  }
}
