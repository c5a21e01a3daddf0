/** A room with its host. */
import * as World from "../world/World.ts"
import * as Room from "./Room.ts"

export interface Hosted {
  readonly room: Room.Room
  readonly host: World.Connected
}

/** A room whose host is in it. */
export const hosted = async (world: World.World, body: object = {}): Promise<Hosted> => {
  const host = await World.answered(world)
  const room = await Room.create(world, host.call.id, body)
  await room.joined(host.call.id)
  if ((body as { readonly start_on_create?: boolean }).start_on_create !== false) await room.event("conference.started")
  return { room, host }
}

export interface Guest extends World.Connected {
  readonly member: Room.Participant
  readonly legId: string
}

/** An answered call that has joined. */
export const guest = async (world: World.World, room: Room.Room, body: object = {}): Promise<Guest> => {
  const connected = await World.answered(world)
  await room.act("join", { call_id: connected.call.id, ...body })
  const member = await room.joined(connected.call.id)
  return { ...connected, member, legId: await connected.call.legId() }
}

/** A room with its host and this number of others. */
export const peopled = async (world: World.World, others: number, body: object = {}) => {
  const { host, room } = await hosted(world, body)
  const guests = await Promise.all(Array.from({ length: others }, () => guest(world, room)))
  return { room, host, hostLeg: await host.call.legId(), guests }
}
