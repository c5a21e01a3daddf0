import { Trunkline } from "trunkline/testing"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { centre } from "./centre.ts"

let trunkline: Trunkline

beforeAll(async () => {
  trunkline = await Trunkline.start()
  const { apiKey, baseUrl, number } = trunkline
  const agents = ["+12025550198", "+12025550197"]
  const handle = centre({ apiKey, baseUrl, number, agents, supervisor: "+12025550199" })
  await trunkline.webhooks((_event, request) => handle(request))
})
afterAll(() => trunkline.stop())

describe("Acme's contact centre", () => {
  it("brings customer and agent together, and the supervisor whispers to the agent alone", async () => {
    const agent = trunkline.phone("+12025550198").answers({ after: "3 seconds" })
    const supervisor = trunkline.phone("+12025550199").answers({ after: "2 seconds" })
    const customer = await trunkline.phone("+12025550142").calls(trunkline.number)
    await customer.hears("One moment.")
    await agent.isConnected()
    await supervisor.isConnected()
    await trunkline.advance("2 seconds")

    await agent.says("How can I help you").isDone()
    await customer.hears("How can I help you")
    await supervisor.hears("How can I help you")
    await customer.says("My order is late").isDone()
    await agent.hears("My order is late")
    await supervisor.hears("My order is late")

    await supervisor.says("Offer him a refund").isDone()
    await agent.hears("Offer him a refund")
    await trunkline.advance("2 seconds")
    expect(customer.heard).not.toContain("refund")

    await agent.says("You get your money back").isDone()
    await customer.hears("You get your money back")
    await agent.presses("#").isDone()
    expect(await customer.isOver()).toMatchObject({ by: "service" })
    expect(await supervisor.isOver()).toMatchObject({ by: "service" })
    const { data } = await trunkline.event("conference.ended")
    expect(data).toMatchObject({ reason: "api" })
    const room = await trunkline.get(`/v1/conferences/${String(data["conference_id"])}/`)
    expect(room.participants.map(({ role }: { readonly role: string }) => role)).toEqual([
      "host",
      "participant",
      "participant"
    ])
  })

  it("keeps the customer when the agent's phone dies, and brings the next agent", async () => {
    const first = trunkline.phone("+12025550198").answers({ after: "1 second" })
    const next = trunkline.phone("+12025550197").answers({ after: "2 seconds" })
    const customer = await trunkline.phone("+12025550144").calls(trunkline.number)
    await first.isConnected()
    await first.says("How can I help you").isDone()
    await customer.hears("How can I help you")
    first.hangsUp()
    await customer.hears("Please stay on the line.")
    await next.isConnected()
    await next.says("I go on with your order").isDone()
    await customer.hears("I go on with your order")
    customer.hangsUp()
    expect(await next.isOver()).toMatchObject({ by: "service" })
  })

  it("lets the customer go when all agents are busy", async () => {
    trunkline.phone("+12025550198").busy()
    trunkline.phone("+12025550197").busy()
    const customer = await trunkline.phone("+12025550143").calls(trunkline.number)
    expect(await customer.isOver()).toMatchObject({ by: "service" })
  })
})
