import { textIn, Trunkline } from "trunkline/testing"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ivr } from "./ivr.ts"

let trunkline: Trunkline
let secret = ""

beforeAll(async () => {
  trunkline = await Trunkline.start()
  const { apiKey, baseUrl } = trunkline
  const handle = ivr({ apiKey, baseUrl, sales: "+12025550199", secret: () => secret })
  secret = (await trunkline.webhooks((_event, request) => handle(request))).secret
})
afterAll(() => trunkline.stop())

describe("Acme's phone menu", () => {
  it("offers its menu again, connects to sales, and records all of it", async () => {
    const began = performance.now()
    const calledAt = trunkline.now.getTime()
    const sales = trunkline.phone("+12025550199").answers({ after: "4 seconds" })
    const caller = await trunkline.phone("+12025550142").calls(trunkline.number)

    // A caller who says nothing hears the menu again.
    await caller.hears("Welcome to Acme. For sales, press 1.")
    await caller.hears("Welcome to Acme. For sales, press 1.")
    await caller.presses("7").hears("That was not 1.")
    caller.presses("1")
    await sales.isConnected()

    await caller.says("I would like to buy a telephone").isDone()
    await sales.hears("I would like to buy a telephone")
    await trunkline.advance("150 seconds")
    await sales.says("Thank you, and goodbye").hangsUp({ after: "1 second" }).isOver()
    expect(await caller.isOver()).toMatchObject({ by: "service" })
    expect(caller.heard).toContain("Thank you, and goodbye")
    await trunkline.advance("20 seconds")

    const { data } = await trunkline.event("recording.completed")
    const recording = await trunkline.fetch(data["download_url"])
    const told = await textIn(new Uint8Array(await recording.arrayBuffer()))
    expect(told).toContain("I would like to buy a telephone")
    expect(told).toContain("Thank you, and goodbye")

    const realMs = Math.round(performance.now() - began)
    const seconds = Math.round((trunkline.now.getTime() - calledAt) / 1000)
    process.stdout.write(`${seconds} seconds on the telephone took ${realMs} ms\n`)
    expect(seconds).toBeGreaterThan(180)
  })

  it("asks three times, then takes leave", async () => {
    const caller = await trunkline.phone("+12025550143").calls(trunkline.number)
    for (let times = 0; times < 3; times++) await caller.hears("press 1.")
    await caller.hears("Goodbye.")
    expect(await caller.isOver()).toMatchObject({ by: "service", cause: "hangup" })
  })

  it("says so when sales does not answer", async () => {
    trunkline.phone("+12025550199").busy()
    const caller = await trunkline.phone("+12025550144").calls(trunkline.number)
    await caller.hears("press 1.")
    await caller.presses("1").hears("Nobody is free.")
    expect(await caller.isOver()).toMatchObject({ by: "service", cause: "hangup" })
  })
})
