import { randomUUID } from "node:crypto"
import { expect } from "vitest"
import type * as TestServer from "../../../edge/http/TestServer.ts"
import type { Row } from "../../Row.ts"
import * as World from "../../world/World.ts"
import * as Room from "../Room.ts"
import * as Rooms from "../Rooms.ts"

interface Page<A> {
  readonly count: number
  readonly next: string | null
  readonly previous: string | null
  readonly results: ReadonlyArray<A>
}
const pageOf = <A>({ json, status, text }: TestServer.Answer): Page<A> => {
  expect(status, text).toBe(200)
  return json as Page<A>
}

/** Reads of rooms. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "rooms are listed newest first, by status and by a part of their name in whatever case, % and _ as themselves",
    run: async (world) => {
      const key = randomUUID().slice(0, 8)
      const names = [`Ärzte ${key} 50%`, `ÄRZTE ${key} 50_`, `other ${key}`]
      const rooms: Array<Room.Room> = []
      for (const name of names) rooms.push((await Rooms.hosted(world, { name })).room)
      const list = async (query: string) =>
        pageOf<Room.View>(await world.tenant.ask("GET", `/v1/conferences/?${query}`)).results
      const named = async (query: string) => (await list(query)).map(({ name }) => name)
      const of = (text: string) => `name=${encodeURIComponent(text)}`
      expect(await named(of(key))).toEqual(names.toReversed())
      expect(await named(of(`ärzte ${key}`))).toEqual([names[1], names[0]])
      expect(await named(of(`${key} 50%`))).toEqual([names[0]])
      expect(await named(of(`${key} 50_`))).toEqual([names[1]])
      await rooms[0]?.over()
      expect(await named(`${of(key)}&status=in_progress`)).toEqual([names[2], names[1]])
      expect(await named(`${of(key)}&status=completed`)).toEqual([names[0]])
      expect((await list(of(key))).map(({ participants }) => participants)).toEqual([[], [], []])
      const first = pageOf<Room.View>(await world.tenant.ask("GET", `/v1/conferences?${of(key)}&page_size=2`))
      expect([first.count, first.previous, first.results.length]).toEqual([3, null, 2])
      expect(first.next).toContain("/v1/conferences/?")
      const next = new URL(String(first.next))
      const second = pageOf<Room.View>(await world.tenant.ask("GET", next.pathname + next.search))
      expect(second.results.map(({ name }) => name)).toEqual([names[0]])
      expect(second.next).toBeNull()
    }
  },
  {
    name: "what is no query of a list is refused, and a page beyond the last is not found",
    run: async (world) => {
      const { room } = await Rooms.peopled(world, 1)
      const code = async (path: string) => Room.codeOf(await world.tenant.ask("GET", path))
      const local = `${room.path}/participants/list/`
      const upstream = `${room.path}/participants/upstream/`
      for (const path of [
        "/v1/conferences/?status=open",
        "/v1/conferences/?region=US",
        "/v1/conferences/?page=0",
        `${local}?whispering=true`,
        `${local}?muted=yes`,
        `${local}?on_hold=1`,
        `${local}?include_left=`,
        `${upstream}?include_left=true`,
        `${upstream}?page_size=101`,
        `${upstream}?page_size=0`,
        `${upstream}?page=x`,
        `${upstream}?cursor=x`
      ])
        expect([path, await code(path)]).toEqual([path, "400 invalid_request"])
      for (const path of [`${local}?page=2`, `${upstream}?page=2`, "/v1/conferences/?page=500"])
        expect([path, await code(path)]).toEqual([path, "404 not_found"])
      world.seen.error("invalid_request")
      world.seen.error("not_found")
      expect(await code(`${local}?page_size=500`)).toBe("200 undefined")
    }
  },
  {
    name: "participants are listed by page, and followed to the end",
    run: async (world) => {
      const { room } = await Rooms.peopled(world, 4)
      const found: Array<string> = []
      let path: string | null = `${room.path}/participants/list/?page_size=2`
      for (let pages = 0; path !== null && pages < 5; pages++) {
        const page: Page<Room.Participant> = pageOf(await world.tenant.ask("GET", path))
        expect(page.count).toBe(5)
        found.push(...page.results.map(({ id }) => id))
        const next: URL | null = page.next === null ? null : new URL(page.next)
        path = next === null ? null : next.pathname + next.search
      }
      expect(found.toSorted()).toEqual((await room.find()).participants.map(({ id }) => id).toSorted())
      expect(new Set(found).size).toBe(5)
    }
  },
  {
    name: "the upstream snapshot has a row for each who is in the room, without drift, by page and with its meta",
    run: async (world) => {
      const { guests, room } = await Rooms.peopled(world, 2)
      await room.act("mute", { leg_ids: [guests[0]?.legId] })
      await room.event("conference.member_muted")
      const page = async (query: string) => {
        const answer = await world.tenant.ask("GET", `${room.path}/participants/upstream/${query}`)
        expect(answer.status, answer.text).toBe(200)
        return answer.json as { readonly results: ReadonlyArray<Room.Upstream>; readonly meta: object }
      }
      const whole = await page("")
      expect(whole.meta).toMatchObject({ page_number: 1, page_size: 20, total_pages: 1, total_results: 3 })
      const { participants } = await room.find()
      expect(whole.results.map(({ drift, member_id, status }) => `${member_id} ${drift} ${status}`).toSorted()).toEqual(
        participants.map(({ id }) => `${id} false joined`).toSorted()
      )
      expect(Object.keys(whole.results[0] ?? {}).toSorted()).toEqual(
        "call_id created_at drift end_on_exit leg_id member_id muted on_hold soft_end_on_exit status updated_at whisper_leg_ids whispering".split(
          " "
        )
      )
      expect((await page("?muted=true")).results.map(({ member_id }) => member_id)).toEqual([guests[0]?.member.id])
      expect((await page("?on_hold=true")).results).toEqual([])
      const second = await page("?page=2&page_size=2")
      expect(second.meta).toMatchObject({ page_number: 2, page_size: 2, total_pages: 2, total_results: 3 })
      expect(second.results.length).toBe(1)
      await room.over()
      expect((await page("")).results.filter(({ drift }) => drift)).toEqual([])
    }
  },
  {
    name: "ids in paths are looked up as what they are: a call's names a participant to be removed, and nobody else",
    run: async (world) => {
      const { guests, room } = await Rooms.peopled(world, 1)
      const [one] = guests
      if (one === undefined) throw new Error("nobody came")
      const of = (id: string) => `${room.path}/participants/${id}/`
      const get = async (path: string) => Room.codeOf(await world.tenant.ask("GET", path))
      const read = await world.tenant.ask("GET", of(one.member.id))
      expect(read.json).toMatchObject({ id: one.member.id, call_id: one.call.id, role: "participant" })
      const nothing = "0".repeat(32)
      expect([
        await get(of(one.call.id)),
        await get(of(`svc_member_${nothing}`)),
        await get(of("svc_member_x")),
        await get(of(one.legId)),
        await get(of("me")),
        await get("/v1/conferences/room/"),
        await get(`/v1/conferences/svc_conf_${nothing}/`),
        await get("/v1/conferences/svc_conf_x/participants/list/"),
        await get(`/v1/conferences/svc_conf_${nothing}/participants/upstream/`),
        await get(`/v1/conferences/svc_conf_${nothing}/participants/${one.member.id}/`)
      ]).toEqual([
        "404 member_not_found",
        "404 member_not_found",
        "404 member_not_found",
        "400 invalid_request",
        "400 invalid_request",
        "400 invalid_request",
        "404 not_found",
        "404 not_found",
        "404 not_found",
        "404 not_found"
      ])
      const codes = async (id: string, body: object | null) => Room.codeOf(await room.change(id, body))
      expect([
        await codes(one.call.id, { end_on_exit: true }),
        await codes(`svc_member_${nothing}`, { end_on_exit: true }),
        await codes(`svc_call_${nothing}`, null),
        await codes(`svc_member_${nothing}`, null),
        await codes(one.legId, null)
      ]).toEqual([
        "404 member_not_found",
        "404 member_not_found",
        "404 member_not_found",
        "404 member_not_found",
        "400 invalid_request"
      ])
    }
  },
  {
    name: "both forms of a path are one path: a key is replayed, and another body for it is a conflict",
    run: async (world) => {
      const host = await World.answered(world)
      const key = { "idempotency-key": randomUUID() }
      const body = { name: Room.freshName(), host_call_id: host.call.id }
      const first = await world.tenant.ask("POST", "/v1/conferences/", body, key)
      expect(first.status, first.text).toBe(201)
      const room = Room.of(world, first.json as Room.View)
      const again = await world.tenant.ask("POST", "/v1/conferences", body, key)
      expect([again.status, again.text, again.headers["idempotent-replayed"]]).toEqual([201, first.text, "true"])
      const other = await world.tenant.ask("POST", "/v1/conferences/", { ...body, name: "another" }, key)
      expect(Room.codeOf(other)).toBe("409 idempotency_conflict")
      world.seen.error("idempotency_conflict")
      await room.joined(host.call.id)
      const dialKey = { "idempotency-key": randomUUID() }
      const dial = { from: world.tenant.number, to: "+12025550102" }
      const [one, two] = [
        await world.tenant.ask("POST", `${room.path}/participants/`, dial, dialKey),
        await world.tenant.ask("POST", `${room.path}/participants`, dial, dialKey)
      ]
      expect([one.status, two.status, two.text]).toEqual([201, 201, one.text])
      expect((await room.find()).participants.length).toBe(2)
      const mute = { leg_ids: [await host.call.legId()] }
      const muteKey = { "idempotency-key": randomUUID() }
      const muted = await world.tenant.ask("POST", `${room.path}/actions/mute`, mute, muteKey)
      const replayed = await world.tenant.ask("POST", `${room.path}/actions/mute/`, mute, muteKey)
      expect([muted.status, replayed.text]).toEqual([200, muted.text])
    }
  }
]
