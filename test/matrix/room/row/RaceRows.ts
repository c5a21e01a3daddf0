import { expect } from "vitest"
import type { Row } from "../../Row.ts"
import * as World from "../../world/World.ts"
import * as Room from "../Room.ts"
import * as Rooms from "../Rooms.ts"

const many = <A>(count: number, make: () => Promise<A>): Promise<ReadonlyArray<A>> =>
  Promise.all(Array.from({ length: count }, make))

/** Concurrent requests and events. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "twenty calls that join a room of ten at once take the nine places that are left",
    run: async (world) => {
      const { room } = await Rooms.hosted(world, { max_participants: 10 })
      const calls = await many(20, () => World.answered(world))
      const answers = await Promise.all(
        calls.map(({ call }) => world.tenant.ask("POST", `${room.path}/actions/join/`, { call_id: call.id }))
      )
      const codes = answers.map(Room.codeOf)
      expect(codes.filter((code) => code === "200 undefined").length).toBe(9)
      expect(codes.filter((code) => code === "409 conference_full").length).toBe(11)
      const inside = calls.filter((_, index) => codes[index] === "200 undefined")
      await Promise.all(inside.map(({ call }) => room.joined(call.id)))
      expect((await room.list("?page_size=200")).length).toBe(10)
      expect(await room.undialled()).toBe("409 conference_full")
      const [outside] = calls.filter((_, index) => codes[index] !== "200 undefined")
      expect(await room.refused("join", { call_id: outside?.call.id })).toBe("409 conference_full")
      expect((await outside?.call.find())?.status).toBe("answered")
    }
  },
  {
    name: "those who ring count: dialling and joining at once never pass the maximum",
    run: async (world) => {
      const { room } = await Rooms.hosted(world, { max_participants: 4 })
      const calls = await many(3, () => World.answered(world))
      const dial = { from: world.tenant.number, to: "+12025550102" }
      const answers = await Promise.all([
        ...calls.map(({ call }) => world.tenant.ask("POST", `${room.path}/actions/join/`, { call_id: call.id })),
        ...Array.from({ length: 3 }, () => world.tenant.ask("POST", `${room.path}/participants/`, dial))
      ])
      const taken = answers.filter(({ status }) => status < 300)
      expect(taken.length).toBe(3)
      expect(answers.filter((answer) => Room.codeOf(answer) === "409 conference_full").length).toBe(3)
      expect((await room.list()).length).toBe(4)
    }
  },
  {
    name: "a call that joins ten times at once is there once, and far ends that hang up as they join leave nobody behind",
    run: async (world) => {
      const { room } = await Rooms.hosted(world, { end_on_exit: false })
      const { call } = await World.answered(world)
      const join = (id: string) => world.tenant.ask("POST", `${room.path}/actions/join/`, { call_id: id })
      const codes = (await many(10, () => join(call.id))).map(Room.codeOf)
      expect(codes.toSorted()).toEqual(["200 undefined", ...Array.from({ length: 9 }, () => "409 conflict")])
      await room.joined(call.id)
      const going = await many(4, () => World.answered(world))
      const answers = await Promise.all(
        going.flatMap((each) => [join(each.call.id), each.far.hangUp().then(() => null)])
      )
      for (const answer of answers)
        if (answer !== null) expect(["200 undefined", "409 call_not_in_required_state"]).toContain(Room.codeOf(answer))
      await Promise.all(going.map((each) => each.call.event("call.ended")))
      const left = await room.until(
        "those who went have left",
        ({ participants }) => participants.filter(({ left_at }) => left_at === null).length === 2
      )
      expect(left.status).toBe("in_progress")
      expect((await room.upstream()).map(({ drift, status }) => [drift, status])).toEqual([
        [false, "joined"],
        [false, "joined"]
      ])
      await Room.settled(room)
    }
  },
  {
    name: "a call that joins two rooms at once is in one of them",
    run: async (world) => {
      const [one, two] = await Promise.all([Rooms.hosted(world), Rooms.hosted(world)])
      const { call } = await World.answered(world)
      await Promise.all(
        [one, two].map(({ room }) => world.tenant.ask("POST", `${room.path}/actions/join/`, { call_id: call.id }))
      )
      const isIn = async ({ room }: Rooms.Hosted) =>
        (await room.find()).participants.find(({ call_id }) => call_id === call.id)
      let found: ReadonlyArray<Room.Participant | undefined> = []
      for (let waited = 0; waited < 15_000; waited += 50) {
        found = await Promise.all([isIn(one), isIn(two)])
        const isSettled = found.every((each) => each === undefined || each.joined_at !== null || each.left_at !== null)
        if (isSettled && found.some((each) => each !== undefined)) break
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      expect(found.filter((each) => each?.joined_at !== undefined && each.joined_at !== null).length).toBe(1)
    }
  },
  {
    name: "end, hang-ups and joins at once: each who came in has left once, and there is one end",
    run: async (world) => {
      const { guests, host, room } = await Rooms.peopled(world, 3)
      const late = await many(3, () => World.answered(world))
      await Promise.all([
        ...late.map(({ call }) => world.tenant.ask("POST", `${room.path}/actions/join/`, { call_id: call.id })),
        host.far.hangUp(),
        guests[0]?.far.hangUp(),
        world.tenant.ask("POST", `${room.path}/actions/end/`),
        world.tenant.ask("POST", `${room.path}/actions/end/`)
      ])
      await room.event("conference.ended")
    }
  }
]
