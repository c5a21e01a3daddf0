import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Netem from "../support/network/Netem.ts"
import * as Fault from "./support/Fault.ts"
import * as FaultRound from "./support/FaultRound.ts"
import * as FaultStage from "./support/FaultStage.ts"
import * as SipPeer from "./support/peer/SipPeer.ts"

/**
 * The short form of the faults through which the process lives (src/runtime/README.md#one-writer): every answer is
 * true, whatever happens to the database and to the network before it. The long form is part of `npm run crash`.
 */
const seed = Number(process.env["CRASH_SEED"] ?? 1)
const random = Netem.random(seed)

const load = { calls: 8, sipCalls: 4, talkSecs: 1, rampMs: 300 }

describe(`a service under load whose database fails it (seed ${seed})`, () => {
  let made: { readonly stage: Awaited<ReturnType<typeof FaultStage.make>>; readonly peer: SipPeer.SipPeer } | null =
    null
  beforeAll(async () => {
    const peer = await SipPeer.start(Netem.random(seed + 1))
    const stage = await FaultStage.make({ tenants: 2, sipPeerPort: peer.port, random, largeCalls: 3 })
    made = { stage, peer }
  }, 300_000)
  afterAll(async () => {
    await made?.stage.close()
    await made?.peer.close()
  }, 300_000)

  it.each(Fault.faults)(
    "keeps its word when $name",
    async (fault) => {
      if (made === null) throw new Error("there is no stage")
      const { peer, stage } = made
      const round = await FaultRound.run(stage, peer, fault, {
        load,
        name: fault.name.replaceAll(" ", "-"),
        warmUpMs: 500,
        lastsMs: 3_500
      })
      expect(round.violations.slice(0, 10)).toEqual([])
    },
    300_000
  )
})
