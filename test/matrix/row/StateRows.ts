import { expect } from "vitest"
import type { Call } from "../Call.ts"
import type { Row } from "../Row.ts"
import { silentNumber } from "../world/SipFarEnds.ts"
import * as Contract from "../Contract.ts"
import * as World from "../world/World.ts"

/** A call in each state. */
const calls: Readonly<Record<Contract.State, (world: World.World) => Promise<Call>>> = {
  initiated: async (world) => (await World.place(world, { to: silentNumber })).call,
  ringing: async (world) => {
    const { call } = await World.place(world)
    await call.event("call.ringing")
    return call
  },
  offered: async (world) => (await World.offered(world)).call,
  answered: async (world) => (await World.answered(world)).call,
  bridged: async (world) => (await World.bridged(world))[0].call,
  ended: async (world) => {
    const { call } = await World.answered(world)
    await call.act("hangup")
    return call
  },
  failed: async (world) => {
    const { call } = await World.offered(world)
    await call.act("reject", { cause: "rejected" })
    return call
  }
}

/** The verbs that are not valid, state by state, guide/calls.md#actions: each is refused without any effect. */
export const rows: ReadonlyArray<Row> = Contract.states.map((state): Row => ({
  name: `every verb that is not valid while a call is ${state} answers ${Contract.refusal(state)}`,
  // A simulated phone rings after 200 ms, and a tenant's number rings at once.
  ...(state === "initiated" ? { only: "sip" as const } : {}),
  run: async (world) => {
    const call = await calls[state](world)
    await call.event("call.started")
    const { status } = await call.until(`it is ${state}`, (view) => state === "offered" || view.status === state)
    const isOver = state === "ended" || state === "failed"
    const before = isOver ? await call.over() : call.types()
    for (const [verb, row] of Object.entries(Contract.verbs))
      if (!row.in.includes(state)) {
        expect([verb, await call.refused(verb, row.body)]).toEqual([verb, `409 ${Contract.refusal(state)}`])
        // The call's own refusal comes before that of an engine.
        if ("voice" in row.body)
          expect([verb, await call.refused(verb, { ...row.body, voice: "nobody.there" })]).toEqual([
            verb,
            `409 ${Contract.refusal(state)}`
          ])
      }
    expect((await call.find()).status).toBe(status)
    // Hanging up is valid in every state that is not terminal. After its events nothing else is under way.
    if (state === "initiated" || state === "offered" || state === "bridged") await call.act("hangup")
    expect((await call.over()).slice(before.length)).toEqual(isOver ? [] : ["call.ended"])
  }
}))
