import { createHmac } from "node:crypto"
import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { ApiFailure, spoken, Trunkline, type WebhookEvent } from "../../../src/app/testing/Trunkline.ts"

const body = (event: WebhookEvent) => event.data["call_id"] as string
const voice = "female"

/** The folders of this process's services in the temporary directory; other test files have their own. */
const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`trunkline-testing-${process.pid}-`))

describe("A service in the process of a test", { timeout: 60_000 }, () => {
  let trunkline: Trunkline
  beforeAll(async () => {
    trunkline = await Trunkline.start({ startsAt: "2026-03-02T09:00:00Z", voices: ["openai.alloy"] })
  })
  afterAll(() => trunkline.stop())

  it("tells each event at its moment, in the order of time, and waits for its handler", async () => {
    const began = trunkline.now.getTime()
    let isOver = false
    const seen: Array<{ readonly type: string; readonly at: number; readonly toldAt: number }> = []
    await trunkline.webhooks(async (event) => {
      if (isOver) return
      const toldAt = trunkline.now.getTime() - began
      await new Promise((resolve) => setTimeout(resolve, 15))
      expect(trunkline.now.getTime() - began).toBe(toldAt)
      seen.push({ type: event.event_type, at: Date.parse(event.occurred_at) - began, toldAt })
      if (event.event_type === "call.answered") await trunkline.post(`/v1/calls/${body(event)}/actions/hangup`)
    })
    const phone = trunkline.phone("+12025550161").answers({ after: "20 seconds" })
    await trunkline.post("/v1/calls", { from: trunkline.number, to: phone.number })
    expect(await phone.isOver()).toEqual({ by: "service", cause: "hangup", sipStatus: null })
    await trunkline.advance(0)
    isOver = true
    expect(seen).toEqual([
      { type: "call.started", at: 0, toldAt: 0 },
      { type: "call.ringing", at: 200, toldAt: 200 },
      { type: "call.answered", at: 20_000, toldAt: 20_000 },
      { type: "call.ended", at: 20_000, toldAt: 20_000 }
    ])
    expect(trunkline.now.getTime() - began).toBe(20_000)
  })

  it("bills the minutes of its own clock", async () => {
    const phone = trunkline.phone("+12025550162")
    const { id } = await trunkline.post("/v1/calls", { from: trunkline.number, to: phone.number })
    await phone.isConnected()
    await trunkline.advance("150 seconds")
    phone.hangsUp()
    await phone.isOver()
    const { data } = await trunkline.event("call.ended", { where: (event) => body(event) === id })
    expect(data["duration_seconds"]).toBe(150)
  })

  it("lets the first digit cut off a prompt, and what was not said is not heard", async () => {
    const prompt = "Please enter the number of your customer account, all of it."
    const phone = trunkline.phone("+12025550163").presses("42#", { after: "2 seconds" })
    const { id } = await trunkline.post("/v1/calls", { from: trunkline.number, to: phone.number })
    await phone.isConnected()
    await trunkline.post(`/v1/calls/${id}/actions/gather_using_speak`, { payload: prompt, voice: "openai.alloy" })
    const { data } = await trunkline.event("call.gather_complete")
    expect(data).toMatchObject({ digits: "42", status: "valid" })
    expect(prompt).toContain(phone.heard)
    expect(phone.heard.length).toBeGreaterThan(20)
    expect(phone.heard.length).toBeLessThan(27)
    await trunkline.post(`/v1/calls/${id}/actions/send_dtmf`, { digits: "9#" })
    await trunkline.advance("1 second")
    expect(phone.digits).toBe("9#")
    await phone.hangsUp().isOver()
  })

  it("plays the files that the test serves, and transcribes what phones say", async () => {
    trunkline.serve("https://files.acme.example/welcome.wav", spoken("Welcome to Acme"))
    const phone = trunkline.phone("+12025550164")
    const { id } = await trunkline.post("/v1/calls", { from: trunkline.number, to: phone.number })
    await phone.isConnected()
    await trunkline.post(`/v1/calls/${id}/actions/transcription_start`, {})
    await trunkline.post(`/v1/calls/${id}/actions/play`, { url: "https://files.acme.example/welcome.wav" })
    await phone.hears("welcome to acme")
    phone.says("My order is late").hangsUp({ after: "1 second" })
    const { data } = await trunkline.event("call.transcript_chunk")
    expect(data).toMatchObject({ call_id: id })
    expect(JSON.stringify(data)).toContain("My order is late")
    await phone.isOver()
  })

  it("tells a test that several wait at once, one after the other, and loses no wake-up", async () => {
    const one = trunkline.phone("+12025550165").answers({ after: "3 seconds" })
    const two = trunkline.phone("+12025550166").answers({ after: "2 seconds" })
    for (const to of [one.number, two.number]) await trunkline.post("/v1/calls", { from: trunkline.number, to })
    const order: Array<string> = []
    await Promise.all([
      one.isConnected().then(() => order.push("one")),
      two.isConnected().then(() => order.push("two")),
      trunkline.advance("1 second").then(() => order.push("a second"))
    ])
    expect(order).toEqual(["a second", "two", "one"])
    for (let times = 0; times < 50; times++) await trunkline.advance("10 millis")
    one.hangsUp()
    two.hangsUp()
    await one.isOver()
    await two.isOver()
  })

  it("has phones that are busy, decline, ring on, cannot be reached, or are in a call already", async () => {
    const outcome = async (to: string) => {
      const { id } = await trunkline.post("/v1/calls", { from: trunkline.number, to, timeout_secs: 10 })
      const { data } = await trunkline.event("call.ended", { where: (event) => body(event) === id })
      return data["end_reason"]
    }
    const phone = (n: number) => trunkline.phone(`+1202555017${n}`)
    expect(await outcome(phone(0).busy().number)).toBe("user_busy")
    expect(await outcome(phone(1).declines().number)).toBe("rejected")
    expect(await outcome(phone(2).rings().number)).toBe("timeout")
    const before = phone(3)
    await trunkline.post("/v1/calls", { from: trunkline.number, to: before.number })
    await before.isConnected()
    expect(await outcome(before.number)).toBe("user_busy")
    expect(before.state).toBe("talking")
    await before.hangsUp().isOver()
  })

  it("signs what it sends to a server of the test as it does in production", async () => {
    const got: Array<{ readonly body: string; readonly headers: Readonly<Record<string, unknown>> }> = []
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        got.push({ body: Buffer.concat(chunks).toString(), headers: request.headers })
        response.end()
      })
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const { id, secret } = await trunkline.webhooks(`http://127.0.0.1:${port}/hook`, { events: ["call.ended"] })
    const phone = trunkline.phone("+12025550167").busy()
    await trunkline.post("/v1/calls", { from: trunkline.number, to: phone.number })
    await trunkline.advance("1 second")
    await trunkline.fetch(`/v1/webhook-subscriptions/${id}`, { method: "DELETE" })
    server.closeAllConnections()
    server.close()
    const [first] = got
    const signature = createHmac("sha256", secret)
      .update(`${String(first?.headers["x-webhook-timestamp"])}.${first?.body}`)
      .digest("hex")
    expect(first?.headers["x-webhook-signature"]).toBe(`sha256=${signature}`)
    expect(got).toHaveLength(1)
  })

  it("says what is wrong when it is used wrongly", async () => {
    expect(() => trunkline.phone("199")).toThrow("199 is no phone number")
    expect(() => trunkline.phone(trunkline.number)).toThrow("is the number of the workspace")
    expect(() => trunkline.phone("+12025550168").presses("12x")).toThrow('cannot press "12x"')
    expect(() => trunkline.serve("http://acme.example/", () => new Response())).toThrow("must begin with https://")
    expect(() => trunkline.serve("https://acme.example/", new URL("http://192.0.2.1/"))).toThrow("not on this machine")
    await expect(trunkline.post("/v1/calls", { from: trunkline.number, to: "12" })).rejects.toBeInstanceOf(ApiFailure)
    await expect(trunkline.phone("+12025550168").calls("+12025550139")).rejects.toThrow("does not take the call")
    await expect(trunkline.until(() => false, { within: "5 seconds" })).rejects.toThrow("in vain for 5 s")
    const phone = trunkline.phone("+12025550169")
    const { id } = await trunkline.post("/v1/calls", { from: trunkline.number, to: phone.number })
    await phone.isConnected()
    await trunkline.post(`/v1/calls/${id}/actions/speak`, { payload: "Good morning", voice })
    await expect(phone.hears("Good evening", { within: "10 seconds" })).rejects.toThrow('has heard "Good morning"')
    phone.hangsUp()
    await expect(phone.hears("Good evening")).rejects.toThrow("is over (hangup, by phone)")
    await trunkline.advance(0)
  })
})

describe("Services of one process", { timeout: 60_000 }, () => {
  it("do not hear of each other, do the same from the same seed, and leave nothing behind", async () => {
    const before = folders()
    const [one, two] = await Promise.all([Trunkline.start({ seed: "a" }), Trunkline.start({ seed: "a" })])
    const place = async (trunkline: Trunkline) => {
      const to = trunkline.phone("+12025550161").number
      return (await trunkline.post("/v1/calls", { from: trunkline.number, to })).id
    }
    expect(one.baseUrl).not.toBe(two.baseUrl)
    expect(await place(one)).toBe(await place(two))
    await one.phone("+12025550161").isConnected()
    expect(one.phone("+12025550161").state).toBe("talking")
    expect(two.phone("+12025550161").state).toBe("ringing")
    await one.stop()
    await two.phone("+12025550161").isConnected()
    await two.stop()
    await expect(one.advance("1 second")).rejects.toThrow("has been stopped")
    await expect(fetch(one.baseUrl)).rejects.toThrow("fetch failed")
    expect(folders()).toEqual(before)
  })

  it("does not move its clock while a commit waits for its turn behind another", async () => {
    const trunkline = await Trunkline.start()
    try {
      const lateMs: Array<number> = []
      // No webhook gets digits, so that only their commits are under way.
      await trunkline.webhooks((event) => lateMs.push(trunkline.now.getTime() - Date.parse(event.occurred_at)), {
        events: ["call.gather_complete"]
      })
      const phone = trunkline.phone("+12025550161").presses("123456#", { after: "2 seconds" })
      const { id } = await trunkline.post("/v1/calls", { from: trunkline.number, to: phone.number })
      await phone.isConnected()
      await trunkline.post(`/v1/calls/${id}/actions/gather`, {})
      await trunkline.advance("20 seconds")
      expect(lateMs).toEqual([0])
    } finally {
      await trunkline.stop()
    }
  })

  it("fail clearly when a handler throws, never answers, or waits for the clock, or when nothing serves a URL", async () => {
    const trunkline = await Trunkline.start({ patience: "4 seconds" })
    try {
      let handler: (event: WebhookEvent) => unknown = () => undefined
      await trunkline.webhooks((event) => handler(event), { events: ["call.started"] })
      const call = () => trunkline.post("/v1/calls", { from: trunkline.number, to: "+12025550161" })
      const phone = trunkline.phone("+12025550161").busy()
      handler = () => {
        throw new Error("no such customer")
      }
      await call()
      await expect(phone.isOver()).rejects.toThrow("the webhook handler threw for call.started: no such customer")
      expect(await phone.isOver()).toEqual({ by: "phone", cause: "final_response", sipStatus: 486 })
      handler = () => trunkline.advance("1 second")
      await call()
      await expect(trunkline.advance("1 second")).rejects.toThrow("must not wait for the clock")
      await phone.isOver()
      const { id } = await (async () => {
        handler = () => undefined
        phone.answers()
        return call()
      })()
      await phone.isConnected()
      await trunkline.post(`/v1/calls/${id}/actions/play`, { url: "https://files.acme.example/missing.wav" })
      await expect(trunkline.advance("1 second")).rejects.toThrow("nothing serves it")
      handler = () => new Promise(() => undefined)
      phone.hangsUp()
      await phone.isOver()
      phone.busy()
      await call()
      await expect(trunkline.advance("1 second")).rejects.toThrow(/the clock cannot move.*webhooks\.trunkline\.test/)
    } finally {
      await trunkline.stop()
    }
  })

  it("can go by the real clock", async () => {
    const trunkline = await Trunkline.start({ clock: "real" })
    try {
      const began = performance.now()
      const phone = trunkline.phone("+12025550161").answers({ after: "300 millis" })
      await trunkline.post("/v1/calls", { from: trunkline.number, to: phone.number })
      await phone.isConnected()
      expect(performance.now() - began).toBeGreaterThan(290)
    } finally {
      await trunkline.stop()
    }
  })
})
