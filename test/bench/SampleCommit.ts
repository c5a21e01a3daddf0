import * as WorkPrice from "../../src/domain/WorkPrice.ts"
import * as CallSetup from "../../src/telephony/call/machine/CallSetup.ts"
import type { Terms } from "../../src/telephony/call/machine/CallInput.ts"
import * as Sample from "../support/fake/CarrierSample.ts"
import * as CallMachine from "../../src/telephony/call/machine/CallMachine.ts"
import type { CallInput } from "../../src/telephony/call/machine/CallInput.ts"
import { type Asked, commitOf } from "../../src/telephony/call/stored/CallRecord.ts"
import { type CallState, primary } from "../../src/telephony/call/machine/CallState.ts"
import * as CallView from "../../src/telephony/call/CallView.ts"
import * as Id from "../../src/domain/Id.ts"
import * as Slot from "../../src/runtime/idempotency/Slot.ts"
import type { Commit } from "../../src/runtime/store/journal/Journal.ts"
import type { Tenant } from "./load/Service.ts"

const terms = (tenant: Tenant, callId: Id.CallId): Terms => ({
  callId,
  tenantId: tenant.id,
  routeId: Id.derive("bench", "route"),
  adapter: "recording",
  incarnation: "test",
  microUsdPerMinute: 20_000,
  reservedMinutes: 1,
  timeOffsetMs: 0,
  limit: { afterSecs: 14_400, reason: "time_limit" },
  prices: WorkPrice.free,
  plan: CallSetup.nothing
})

const asked = (tenant: Tenant, callId: Id.CallId): Asked => ({
  by: { actor: { type: "api_key", id: tenant.keyId, name: "bench" }, ip: null },
  status: 201,
  recordings: [],
  slot: Slot.make({
    owner: tenant.keyId,
    credential: tenant.credential,
    idempotencyKey: callId,
    method: "POST",
    path: "/v1/calls",
    body: Buffer.from("{}")
  })
})

/** The commits of one call from `place` to `ended`, charge included, as its actor makes them: four, with their rows. */
export const life = (tenant: Tenant, seed: string, at = Date.now()): ReadonlyArray<Commit> => {
  const callId = Id.derive(seed, "call")
  const commits: Array<Commit> = []
  let state: CallState | null = null
  const take = (input: CallInput, by: Asked | null) => {
    const context = { now: at + commits.length * 1000, seed: Id.deriveOpaque(seed, "input", commits.length) }
    const outcome = CallMachine.step(state, input, context)
    if (outcome.type !== "accepted") throw new Error(`the machine did not take ${input.type}`)
    const rendered = by === null ? null : { status: by.status, body: CallView.render(outcome.state, []) }
    commits.push(
      commitOf({ input, before: state, state: outcome.state, effects: outcome.effects, context }, by, rendered)
    )
    state = outcome.state
    return outcome.state
  }
  const placed = take(
    {
      type: "place",
      terms: terms(tenant, callId),
      from: tenant.number,
      to: "+12025550100",
      customerReference: null,
      timeoutSecs: 60
    },
    asked(tenant, callId)
  )
  const legId = primary(placed).id
  const event = Sample.numbered()
  take({ type: "carrier", event: event(legId, at + 1000, { type: "ringing", resume: null }) }, null)
  take({ type: "carrier", event: event(legId, at + 2000, { type: "answered", resume: null }) }, null)
  take(
    {
      type: "carrier",
      event: event(legId, at + 3000, { type: "ended", cause: "hangup", sipStatus: null, by: "far" })
    },
    null
  )
  return commits
}

/** The rows of a placed call with new identities, as a program without any rules would write them for a request. */
export const copyOf = (commit: Commit, hex: string): { readonly commit: Commit; readonly callId: Id.CallId } => {
  const callId = Id.CallId.make(`svc_call_${hex}`)
  const { receipt } = commit
  if (commit.entities.length !== 1 || commit.lists.length !== 1 || receipt === null)
    throw new Error("not the commit of a placed call")
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  return {
    callId,
    commit: {
      ...commit,
      entities: commit.entities.map((entity) => ({ ...entity, kind: "call" as const, id: callId })),
      lists: commit.lists.map(({ row, table }) => ({ table, row: { ...row, id: callId } })),
      events: commit.events.map((event) => ({ ...event, id: Id.EventId.make(id), entityId: callId })),
      audit: commit.audit.map((line) => ({ ...line, id: Id.AuditId.make(id), resourceId: callId })),
      receipt: { ...receipt, key: hex + hex }
    }
  }
}
