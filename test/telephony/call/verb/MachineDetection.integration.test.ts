import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Trunkline, type WebhookEvent } from "../../../../src/app/testing/Trunkline.ts"

/** Machine detection through HTTP, with simulated phones and delivered webhooks: guide/detection.md. */
const phones = {
  echo: "+12025550100",
  neverAnswers: "+12025550102",
  voicemail: "+12025550104",
  person: "+12025550111",
  longVoicemail: "+12025550112",
  fax: "+12025550113",
  silent: "+12025550116",
  announcement: "+12025550121",
  intercept: "+12025550122",
  earlyIntercept: "+12025550123"
}
const premium = { answering_machine_detection: "premium" }

describe("Machine detection through HTTP", { timeout: 60_000 }, () => {
  let trunkline: Trunkline
  beforeAll(async () => {
    trunkline = await Trunkline.start()
    await trunkline.webhooks(() => undefined)
  }, 60_000)
  afterAll(() => trunkline.stop())

  const place = async (to: string, more: object = premium): Promise<string> =>
    (await trunkline.post("/v1/calls", { from: trunkline.number, to, ...more })).id
  const act = (id: string, verb: string, body: object = {}) => trunkline.post(`/v1/calls/${id}/actions/${verb}`, body)
  const result = (id: string) => trunkline.get(`/v1/calls/${id}/amd`)
  const statusOf = async (path: string, init: RequestInit = {}) => (await trunkline.fetch(path, init)).status
  /** The next delivered event of this type about the call. */
  const next = (id: string, type: string, where: (event: WebhookEvent) => boolean = () => true) =>
    trunkline.event(type, { where: (event) => event.data["call_id"] === id && where(event) })
  const told = (id: string) => trunkline.events.filter(({ data }) => data["call_id"] === id)
  const typesOf = (id: string) => told(id).map(({ event_type }) => event_type)
  const isBeep = ({ data }: WebhookEvent) => data["beep_detected"] === true

  it.each([
    { who: "a person", to: phones.person, result: "human", detail: "human_residence", beeps: false, withinMs: 2000 },
    { who: "a voicemail", to: phones.longVoicemail, result: "machine", detail: "machine", beeps: true, withinMs: 4500 },
    {
      who: "a short voicemail",
      to: phones.voicemail,
      result: "machine",
      detail: "machine",
      beeps: true,
      withinMs: 4500
    },
    {
      who: "an announcement",
      to: phones.announcement,
      result: "machine",
      detail: "machine",
      beeps: false,
      withinMs: 4500
    },
    { who: "a fax", to: phones.fax, result: "machine", detail: "fax", beeps: false, withinMs: 1800 },
    { who: "an intercept", to: phones.intercept, result: "machine", detail: "machine", beeps: false, withinMs: 1800 },
    {
      who: "an early intercept",
      to: phones.earlyIntercept,
      result: "machine",
      detail: "machine",
      beeps: false,
      withinMs: 40
    },
    { who: "nobody", to: phones.silent, result: "unknown", detail: "silence", beeps: false, withinMs: 5040 }
  ])(
    "tells $who with a webhook and on request, in time",
    async ({ beeps, detail, result: known, to, who, withinMs }) => {
      const id = await place(to, { ...premium, customer_reference: who })
      expect(await result(id)).toMatchObject({ status: "pending", result: null, detail: null })
      const answered = await next(id, "call.answered")
      const first = await next(id, "call.amd_complete")
      expect(first.data).toMatchObject({ call_id: id, customer_reference: who, result: known })
      const at = await result(id)
      expect(at).toMatchObject({ call_id: id, mode: "premium", status: "complete", result: known })
      expect(Date.parse(at.detected_at) - Date.parse(answered.data["answered_at"])).toBeLessThanOrEqual(withinMs)
      if (beeps && !isBeep(first)) await next(id, "call.amd_complete", isBeep)
      await act(id, "hangup")
      await next(id, "call.ended")
      const events = told(id).filter(({ event_type }) => event_type === "call.amd_complete")
      expect(events.at(-1)?.data).toMatchObject({ result: known, beep_detected: beeps })
      expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length)
      const types = typesOf(id)
      expect(types.indexOf("call.amd_complete")).toBeGreaterThan(types.indexOf("call.answered"))
      expect(types.lastIndexOf("call.amd_complete")).toBeLessThan(types.indexOf("call.ended"))
      const after = await result(id)
      expect(after).toMatchObject({ status: "complete", result: known, detail, beep_detected: beeps })
      expect(after.beep_detected_at === null).toBe(!beeps)
    }
  )

  it("tells the beep of a voicemail again, behind its result", async () => {
    const id = await place(phones.longVoicemail)
    expect((await next(id, "call.amd_complete")).data).toMatchObject({ result: "machine", beep_detected: false })
    expect((await next(id, "call.amd_complete")).data).toMatchObject({ result: "machine", beep_detected: true })
    await act(id, "hangup")
  })

  it("is unknown of a call that ends in the middle of it, and is not told of one that nobody answers", async () => {
    const id = await place(phones.silent)
    await next(id, "call.answered")
    await act(id, "hangup")
    expect((await next(id, "call.amd_complete")).data).toMatchObject({ result: "unknown", beep_detected: false })
    expect(await result(id)).toMatchObject({ status: "complete", result: "unknown", detail: "not_sure" })

    const unanswered = await place(phones.neverAnswers)
    expect(await result(unanswered)).toMatchObject({ status: "pending" })
    await act(unanswered, "hangup")
    await next(unanswered, "call.ended")
    const unknown = { status: "complete", result: "unknown", detail: "not_sure", detected_at: null }
    expect(await result(unanswered)).toMatchObject(unknown)
    await trunkline.advance("1 second")
    expect(typesOf(unanswered)).not.toContain("call.amd_complete")
  })

  it("is not there where it was not asked for, nor for another workspace", async () => {
    const owner = { email: "b@example.com", password: "correct horse battery", first_name: "Bo", last_name: "B" }
    const signedUp = await trunkline.post("/v1/signup", { ...owner, tenant_name: "b" })
    const authorization = `Bearer ${signedUp.api_key_plaintext}`
    const [plain, asked] = [await place(phones.echo, {}), await place(phones.silent)]
    await next(plain, "call.answered")
    expect(await statusOf(`/v1/calls/${plain}/amd`)).toBe(404)
    expect(await statusOf(`/v1/calls/${asked}/amd`, { headers: { authorization } })).toBe(404)
    for (const wrong of ["on", "detect", true, null])
      await expect(place(phones.echo, { answering_machine_detection: wrong })).rejects.toMatchObject({
        status: 400
      })
    await trunkline.advance("10 seconds")
    await act(plain, "hangup")
    await act(asked, "hangup")
    await next(plain, "call.ended")
    expect(typesOf(plain)).not.toContain("call.amd_complete")
  })

  it("goes on beside a recording, and on a leg that is transferred", async () => {
    const id = await place(phones.longVoicemail, { ...premium, record: "on_answer" })
    await next(id, "call.answered")
    await act(id, "transfer", { to: phones.silent })
    await next(id, "call.bridged")
    const first = await next(id, "call.amd_complete")
    const { legs } = await trunkline.get(`/v1/calls/${id}`)
    expect(first.data).toMatchObject({ leg_id: legs[0].id, result: "machine", beep_detected: false })
    await next(id, "call.amd_complete", isBeep)
    await act(id, "hangup")
    await next(id, "call.ended")
    expect(await result(id)).toMatchObject({ leg_id: legs[0].id, beep_detected: true })
  })
})
