import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { spoken, textIn, Trunkline, type WebhookEvent } from "../../../src/app/testing/Trunkline.ts"

const voice = "female"

interface Participant {
  readonly id: string
  readonly call_id: string
  readonly leg_id: string
  readonly is_speaking: boolean
}

describe("Conferences in a test", { timeout: 60_000 }, () => {
  let trunkline: Trunkline
  beforeAll(async () => {
    trunkline = await Trunkline.start({ startsAt: "2026-03-02T09:00:00Z" })
    await trunkline.webhooks(() => undefined)
  })
  afterAll(() => trunkline.stop())

  const called = async (number: string): Promise<string> => {
    const phone = trunkline.phone(number)
    const { id } = await trunkline.post("/v1/calls", {
      from: trunkline.number,
      to: phone.number,
      customer_reference: "placed"
    })
    await phone.isConnected()
    return id
  }
  const joined = async (callId: string): Promise<WebhookEvent> =>
    trunkline.event("conference.member_joined", { where: ({ data }) => data["call_id"] === callId })
  const participants = async (room: string): Promise<ReadonlyArray<Participant>> =>
    (await trunkline.get(`/v1/conferences/${room}/`)).participants
  const legOf = async (room: string, callId: string) =>
    (await participants(room)).find(({ call_id }) => call_id === callId)?.leg_id

  it("are where a menu leads to: who presses the number of a meeting hears all who are in it, and is heard", async () => {
    const meetings = new Map<string, string>()
    await trunkline.webhooks(
      async ({ data, event_type }) => {
        const call = String(data["call_id"])
        if (event_type === "call.started" && data["direction"] === "inbound")
          await trunkline.post(`/v1/calls/${call}/actions/answer`)
        if (event_type === "call.answered" && data["customer_reference"] === null)
          await trunkline.post(`/v1/calls/${call}/actions/gather_using_speak`, {
            payload: "Which meeting?",
            voice,
            maximum_digits: 2
          })
        if (event_type !== "call.gather_complete" || data["status"] !== "valid") return
        const meeting = String(data["digits"])
        const room = meetings.get(meeting)
        if (room !== undefined)
          return void (await trunkline.post(`/v1/conferences/${room}/actions/join/`, { call_id: call }))
        const { id } = await trunkline.post("/v1/conferences/", {
          name: `Meeting ${meeting}`,
          host_call_id: call,
          start_on_create: false,
          end_on_exit: false
        })
        meetings.set(meeting, id)
      },
      { events: ["call.started", "call.answered", "call.gather_complete"] }
    )
    const numbers = ["+12025550161", "+12025550162", "+12025550163"]
    const phones = []
    for (const number of numbers) {
      const phone = await trunkline.phone(number).calls(trunkline.number)
      await phone.hears("Which meeting?")
      phone.presses("42")
      await trunkline.event("conference.member_joined")
      phones.push(phone)
    }
    const [one, two, three] = phones
    if (one === undefined || two === undefined || three === undefined) throw new Error("nobody came")
    await one.says("Good morning from one").isDone()
    for (const other of [two, three]) await other.hears("Good morning from one")
    await three.says("and from three").isDone()
    for (const other of [one, two]) await other.hears("and from three")
    expect(three.heard).not.toContain("and from three")
    await one.hangsUp().isOver()
    await two.says("still here").isDone()
    await three.hears("still here")
    await two.hangsUp().isOver()
    await three.hangsUp().isOver()
    await trunkline.event("conference.ended")
  })

  it("end when their time is over, at that moment", async () => {
    const host = await called("+12025550164")
    const room = await trunkline.post("/v1/conferences/", {
      name: "Short",
      host_call_id: host,
      duration_minutes: 1
    })
    const started = await trunkline.event("conference.started", {
      where: ({ data }) => data["conference_id"] === room.id
    })
    const ended = await trunkline.event("conference.ended", { within: "2 minutes" })
    expect(ended.data["conference_id"]).toBe(room.id)
    const lastedMs = Date.parse(ended.occurred_at) - Date.parse(started.occurred_at)
    expect(Math.abs(lastedMs - 60_000)).toBeLessThanOrEqual(1)
    expect(ended.data["duration_seconds"]).toBe(60)
    expect(await trunkline.phone("+12025550164").isOver()).toMatchObject({ by: "service" })
    expect(await trunkline.get(`/v1/calls/${host}`)).toMatchObject({
      end_reason: "conference_ended",
      end_initiator: "system"
    })
  })

  it("mute, hold with music, whisper, play and record as they say", async () => {
    trunkline.serve("https://files.acme.example/music.wav", spoken("la la la"))
    const numbers = ["+12025550165", "+12025550166", "+12025550167"]
    const calls: Array<string> = []
    for (const number of numbers) calls.push(await called(number))
    const [host = "", guest = "", boss = ""] = calls
    const [one, two, three] = numbers.map((number) => trunkline.phone(number))
    if (one === undefined || two === undefined || three === undefined) throw new Error("nobody came")
    const { id } = await trunkline.post("/v1/conferences/", { name: "Desk", host_call_id: host })
    const act = (verb: string, body: object = {}) => trunkline.post(`/v1/conferences/${id}/actions/${verb}/`, body)
    await joined(host)
    for (const call of [guest, boss]) {
      await act("join", { call_id: call })
      await joined(call)
    }
    const legs = { one: await legOf(id, host), two: await legOf(id, guest), three: await legOf(id, boss) }
    await act("record_start", { format: "wav" })

    await act("mute", { leg_ids: [legs.two] })
    await trunkline.event("conference.member_muted")
    await two.says("nobody hears this").isDone()
    await act("unmute", { leg_ids: [legs.two] })
    await trunkline.event("conference.member_unmuted")
    await two.says("all hear that").isDone()
    for (const phone of [one, three]) {
      await phone.hears("all hear that")
      expect(phone.heard).not.toContain("nobody hears this")
    }

    await act("hold", { leg_ids: [legs.two], audio_url: "https://files.acme.example/music.wav" })
    await two.hears("la la la")
    await one.says("between us").isDone()
    await three.hears("between us")
    await act("unhold", { leg_ids: [legs.two] })
    await trunkline.advance("1 second")
    expect(two.heard).not.toContain("between us")

    await act("supervise", { leg_id: legs.three, role: "whisper", whisper_leg_ids: [legs.one] })
    await trunkline.advance("1 second")
    await three.says("a secret").isDone()
    await one.hears("a secret")
    await trunkline.advance("1 second")
    expect(two.heard).not.toContain("a secret")

    await act("speak", { payload: "The meeting ends.", voice })
    for (const phone of [one, two, three]) await phone.hears("The meeting ends.")
    await trunkline.event("conference.playback_ended")
    await act("end")
    const { data } = await trunkline.event("recording.completed", {
      where: (event) => event.data["conference_id"] === id
    })
    const recording = await trunkline.fetch(String(data["download_url"]))
    const told = await textIn(new Uint8Array(await recording.arrayBuffer()))
    for (const text of ["all hear that", "between us", "The meeting ends."]) expect(told).toContain(text)
    for (const text of ["nobody hears this", "a secret", "la la la"]) expect(told).not.toContain(text)
  })

  it("tell who speaks, and show it while it lasts", async () => {
    const host = await called("+12025550168")
    const { id } = await trunkline.post("/v1/conferences/", { name: "Talk", host_call_id: host })
    await joined(host)
    trunkline.phone("+12025550168").says("I have a long story to tell you about telephones")
    const ofRoom = { where: ({ data }: WebhookEvent) => data["conference_id"] === id }
    const { data } = await trunkline.event("conference.member_speaking_started", ofRoom)
    expect(data).toMatchObject({ call_id: host })
    expect((await participants(id)).map(({ is_speaking }) => is_speaking)).toEqual([true])
    await trunkline.event("conference.member_speaking_ended", ofRoom)
    expect((await participants(id)).map(({ is_speaking }) => is_speaking)).toEqual([false])
    await trunkline.post(`/v1/conferences/${id}/actions/end/`)
    await trunkline.event("conference.ended", ofRoom)
  })

  it("lose whom nobody can pay for any longer, and go on; what was charged is what there was", async () => {
    const numbers = ["+12025550171", "+12025550172", "+12025550173"]
    const calls: Array<string> = []
    for (const number of numbers) calls.push(await called(number))
    const { id } = await trunkline.post("/v1/conferences/", {
      name: "While it lasts",
      host_call_id: calls[0],
      end_on_exit: false
    })
    for (const call of calls.slice(1)) await trunkline.post(`/v1/conferences/${id}/actions/join/`, { call_id: call })
    for (const call of calls) await joined(call)
    // Each call pays a cent for a started minute, and its first minute is paid.
    await trunkline.setBalance(5)
    const left: Array<WebhookEvent> = []
    for (const _ of calls)
      left.push(
        await trunkline.event("conference.member_left", {
          where: ({ data }) => data["conference_id"] === id,
          within: "5 minutes"
        })
      )
    expect(left.map(({ data }) => String(data["call_id"])).toSorted()).toEqual(calls.toSorted())
    await trunkline.event("conference.ended", { where: ({ data }) => data["conference_id"] === id })
    const ended: Array<WebhookEvent> = []
    for (const call of calls)
      ended.push(await trunkline.event("call.ended", { where: ({ data }) => data["call_id"] === call }))
    expect(ended.map(({ data }) => data["end_reason"])).toEqual(calls.map(() => "balance_exhausted"))
    expect(ended.map(({ data }) => Number(data["duration_seconds"])).toSorted((a, b) => a - b)).toEqual([60, 120, 120])
    expect(await trunkline.get("/v1/billing/balance")).toMatchObject({ balance_cents: 0 })
    await trunkline.setBalance(100_000)
  })
})
