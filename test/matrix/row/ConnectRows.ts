import { expect } from "vitest"
import * as SipMessage from "../../../src/protocol/sip/message/SipMessage.ts"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"

const busy = "+12025550101"
const neverAnswers = "+12025550102"
const answers = "+12025550116"
const refusesReferral = "+12025550119"

/** Legs that are connected with others: guide/calls.md#transfer, guide/calls.md#bridge, guide/calls.md#refer. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "transfer connects another phone: both legs are bridged, and the end of one ends the call",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      await call.act("transfer", { to: answers, timeout_secs: 30, from: world.tenant.number })
      const told = await call.event("call.bridged")
      const { legs } = await call.until("both legs are bridged", (view) =>
        view.legs.every(({ status }) => status === "bridged")
      )
      expect(told).toMatchObject({ leg_id: legs[0]?.id, bridged_call_id: null, bridged_leg_id: legs[1]?.id })
      expect(legs.map(({ role, to }) => [role, to])).toEqual([
        ["primary", world.ends.number],
        ["transfer", answers]
      ])
      await far.hangUp()
      await call.event("call.ended")
      expect((await call.find()).legs.map(({ status }) => status)).toEqual(["ended", "ended"])
    }
  },
  {
    name: "transfer of a bridged call leaves the leg before, which is hung up",
    run: async (world) => {
      const { call } = await World.answered(world)
      await call.act("transfer", { to: answers })
      await call.event("call.bridged")
      await call.until("it is bridged", ({ status }) => status === "bridged")
      expect((await call.act("transfer", { to: "+12025550100" })).status).toBe("answered")
      await call.event("call.bridged", 2)
      const { legs } = await call.until("the third leg is bridged", (view) => view.legs[2]?.status === "bridged")
      expect(legs.map(({ status }) => status)).toEqual(["bridged", "ended", "bridged"])
    }
  },
  ...[
    { what: "is busy", body: { to: busy }, told: { end_reason: "user_busy", sip_status: 486 } },
    {
      what: "does not answer in time",
      body: { to: neverAnswers, timeout_secs: 1 },
      told: { end_reason: "timeout", sip_status: null }
    },
    { what: "rejects", body: { to: "+12025550103" }, told: { end_reason: "rejected", sip_status: 603 } }
  ].map(({ body, told, what }): Row => ({
    name: `transfer to a number that ${what} is told, and the first leg is kept`,
    run: async (world) => {
      const { call } = await World.answered(world)
      await call.act("transfer", body)
      const data = await call.event("call.transfer_failed")
      const { legs, status } = await call.find()
      expect(data).toMatchObject({ ...told, leg_id: legs[1]?.id })
      expect([status, legs[1]?.status]).toEqual(["answered", "failed"])
      expect(call.types()).not.toContain("call.bridged")
    }
  })),
  {
    name: "transfer that rings while the call is hung up is cancelled, and told before call.ended",
    run: async (world) => {
      const { call } = await World.answered(world)
      await call.act("transfer", { to: neverAnswers })
      expect(await call.refused("transfer", { to: answers })).toBe("409 conflict")
      await call.act("hangup")
      expect((await call.over()).slice(-2)).toEqual(["call.transfer_failed", "call.ended"])
      expect(await call.event("call.transfer_failed")).toMatchObject({ end_reason: "cancelled" })
    }
  },
  {
    name: "transfer hands its custom headers to the phone that is dialled",
    run: async (world) => {
      const { call } = await World.answered(world)
      const key = `transfer-${call.id}`
      await call.act("transfer", { to: world.ends.number, custom_headers: [{ name: "X-Row", value: key }] })
      const other = await world.ends.offered(key)
      await other.answer()
      await call.event("call.bridged")
      // The end of the dialled leg ends the call.
      await other.hangUp()
      expect(await call.event("call.ended")).toMatchObject({ end_reason: "normal_clearing" })
    }
  },
  {
    name: "bridge connects two calls; both are told, digits cross, and the end of one ends the other",
    run: async (world) => {
      const [one, two] = await World.bridged(world)
      const [first, second] = [await one.call.legId(), await two.call.legId()]
      expect(await one.call.event("call.bridged")).toMatchObject({
        leg_id: first,
        bridged_call_id: two.call.id,
        bridged_leg_id: second
      })
      expect(await two.call.event("call.bridged")).toMatchObject({
        leg_id: second,
        bridged_call_id: one.call.id,
        bridged_leg_id: first
      })
      await one.far.press("5")
      expect(await two.far.heardDigits(1)).toBe("5")
      expect(await one.call.event("call.dtmf")).toMatchObject({ digit: "5", leg_id: first })
      await one.far.hangUp()
      expect(await two.call.event("call.ended")).toMatchObject({ end_reason: "normal_clearing" })
      await two.far.gone()
    }
  },
  {
    name: "bridge with a third leaves the other call answered again, without an event",
    run: async (world) => {
      const [[one, two], three] = await Promise.all([World.bridged(world), World.answered(world)])
      await three.call.act("bridge", { leg_id: await one.call.legId() })
      await three.call.event("call.bridged")
      await one.call.event("call.bridged", 2)
      await two.call.until("it is answered again", ({ status }) => status === "answered")
      expect(two.call.types().filter((type) => type === "call.bridged").length).toBe(1)
    }
  },
  {
    name: "bridge is refused where it cannot be",
    run: async (world) => {
      const [one, ringing] = await Promise.all([World.answered(world), World.place(world)])
      await ringing.call.event("call.ringing")
      const own = await one.call.legId()
      const refused = (leg_id: unknown) => one.call.refused("bridge", { leg_id })
      expect(await refused("svc_leg_1")).toBe("400 invalid_request")
      expect(await refused(`svc_leg_${"0".repeat(32)}`)).toBe("404 not_found")
      expect(await refused(own)).toBe("422 unprocessable")
      expect(await refused(await ringing.call.legId())).toBe("409 call_not_in_required_state")
    }
  },
  {
    name: "refer sends the far end away, and tells how that went",
    run: async (world) => {
      const call = await World.dial(world, "+12025550100")
      await call.event("call.answered")
      await call.act("refer", {
        sip_address: "sip:+12025550116@example.com",
        custom_headers: [{ name: "X-Case", value: call.id }]
      })
      expect(await call.event("call.refer_completed")).toMatchObject({ sip_status: 200 })
      if (world.carrier === "sip") {
        const { referrals } = world.running().peer
        const refer = await referrals.next("its REFER", (each) => SipMessage.header(each, "X-Case") === call.id)
        expect(SipMessage.header(refer, "Refer-To")).toContain("sip:+12025550116@example.com")
      }
      // The phone stays on the call, so that the service hangs up.
      expect(await call.event("call.ended")).toMatchObject({ end_reason: "normal_clearing", end_initiator: "api" })
    }
  },
  {
    name: "refer that the far end refuses is told, and the call goes on",
    run: async (world) => {
      const call = await World.dial(world, refusesReferral)
      await call.event("call.answered")
      await call.act("refer", { sip_address: "sip:somebody@example.com" })
      expect(await call.event("call.refer_failed")).toMatchObject({ reason: "rejected", sip_status: 603 })
      expect((await call.find()).status).toBe("answered")
    }
  },
  {
    name: "refer to a number that is busy is told as failed, and the call goes on",
    run: async (world) => {
      const call = await World.dial(world, "+12025550100")
      await call.event("call.answered")
      await call.act("refer", { sip_address: `sip:${busy}@example.com` })
      expect(await call.event("call.refer_failed")).toMatchObject({ reason: "failed", sip_status: 486 })
      expect((await call.find()).status).toBe("answered")
    }
  },
  {
    name: "refer that nobody reports of is told as call_ended when the call is hung up",
    run: async (world) => {
      const call = await World.dial(world, "+12025550120")
      await call.event("call.answered")
      await call.act("refer", { sip_address: "sip:somebody@example.com" })
      expect(await call.refused("refer", { sip_address: "sip:somebody@example.com" })).toBe("409 conflict")
      await call.act("hangup")
      expect((await call.over()).slice(-2)).toEqual(["call.refer_failed", "call.ended"])
      expect(await call.event("call.refer_failed")).toMatchObject({ reason: "call_ended" })
    }
  }
]
