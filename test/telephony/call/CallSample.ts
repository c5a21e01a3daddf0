import type { StepContext } from "../../../src/runtime/actor/Machine.ts"
import type { CarrierEvent, LegReport } from "../../../src/carrier/Carrier.ts"
import type { CallInput } from "../../../src/telephony/call/machine/CallInput.ts"
import * as CallMachine from "../../../src/telephony/call/machine/CallMachine.ts"
import { type CallState, primary } from "../../../src/telephony/call/machine/CallState.ts"
import type { Leg } from "../../../src/telephony/call/machine/leg/Leg.ts"
import type { Effects } from "../../../src/telephony/call/machine/StepBuilder.ts"
import * as Id from "../../../src/domain/Id.ts"
import * as Ids from "../../support/Ids.ts"
import * as SeenEvent from "../../support/SeenEvent.ts"
import * as CallVerbs from "../../../src/telephony/call/verb/CallVerbs.ts"
import type { MediaCommand, MediaEvent } from "../../../src/ports/media/MediaMessage.ts"
import type { PlaceRequest } from "../../../src/telephony/call/shell/PlaceCall.ts"
import * as CallSetup from "../../../src/telephony/call/machine/CallSetup.ts"
import * as WorkPrice from "../../../src/domain/WorkPrice.ts"

/** Drives one call through the pure machine: a clock that only `at` moves, a seed per step. Every event is checked. */
export const tenantId = Ids.tenant("6f1b0a52-6c0e-4d4e-9a57-0d7a3f3f6c11")

export const terms = (fields: Partial<Extract<CallInput, { type: "place" }>["terms"]> = {}) => ({
  callId: Id.derive("sample", "call"),
  tenantId,
  routeId: Id.derive("sample", "route"),
  adapter: "test",
  incarnation: "first life",
  microUsdPerMinute: 10_000,
  // Reserved to the limit, so that nothing is renewed.
  reservedMinutes: 60,
  timeOffsetMs: 0,
  limit: { afterSecs: 3600, reason: "time_limit" as const },
  prices: WorkPrice.free,
  plan: CallSetup.nothing,
  ...fields
})

/** A request to call a simulated phone that never answers. */
export const request = (from: string, fields: Partial<PlaceRequest> = {}): PlaceRequest => ({
  from,
  to: "+12025550102",
  routeId: null,
  customerReference: null,
  timeoutSecs: 60,
  timeLimitSecs: null,
  callerIdForwarding: false,
  plan: CallSetup.nothing,
  ...fields
})

export const place = (fields: Partial<Extract<CallInput, { type: "place" }>> = {}): CallInput => ({
  type: "place",
  terms: terms(),
  from: "+12025550150",
  to: "+12025550100",
  customerReference: "order 7",
  timeoutSecs: 60,
  ...fields
})

export const offered = (): CallInput => ({
  type: "offered",
  terms: terms({ microUsdPerMinute: 0 }),
  legId: Id.derive("sample", "leg"),
  from: "+12025550100",
  to: "+12025550150",
  resume: { invite: 1 }
})

export interface Scene {
  readonly state: CallState
  readonly log: ReadonlyArray<{ readonly input: CallInput; readonly context: StepContext }>
  readonly effects: ReadonlyArray<Effects>
  readonly outcomes: ReadonlyArray<string>
}

const contextOf = (count: number, now: number): StepContext => ({ now, seed: `seed${count}` })

export const start = (input: CallInput, now = 1_000_000): Scene => {
  const context = contextOf(0, now)
  const outcome = CallMachine.step(null, input, context)
  if (outcome.type !== "accepted") throw new Error("a call begins with an accepted input")
  SeenEvent.check(outcome.effects.events)
  return { state: outcome.state, log: [{ input, context }], effects: [outcome.effects], outcomes: ["accepted"] }
}

export const send = (scene: Scene, input: CallInput, now: number): Scene => {
  const context = contextOf(scene.log.length + scene.outcomes.length, Math.max(now, scene.state.at))
  const outcome = CallMachine.step(scene.state, input, context)
  if (outcome.type === "accepted") SeenEvent.check(outcome.effects.events)
  return outcome.type === "accepted"
    ? {
        state: outcome.state,
        log: [...scene.log, { input, context }],
        effects: [...scene.effects, outcome.effects],
        outcomes: [...scene.outcomes, "accepted"]
      }
    : { ...scene, outcomes: [...scene.outcomes, outcome.type === "rejected" ? outcome.error.code : "unchanged"] }
}

/** The next event of a leg (by default the call's own), which happened at `at`. */
export const event = (
  scene: Pick<Scene, "state">,
  report: LegReport,
  at: number,
  leg: Leg = primary(scene.state)
): CarrierEvent => {
  const { heard, id, incarnation } = leg
  return { legId: id, at, incarnation: incarnation ?? "", n: heard + 1, ...report }
}

/** The leg of the last transfer. */
export const transferLeg = ({ state }: Pick<Scene, "state">): Leg => {
  const leg = state.legs.findLast(({ role }) => role === "transfer")
  if (leg === undefined) throw new Error("nothing was transferred")
  return leg
}

/** Sends an event of the leg of the last transfer. */
export const other = (scene: Scene, report: LegReport, now: number): Scene =>
  send(scene, { type: "carrier", event: event(scene, report, now, transferLeg(scene)) }, now)

/** An admitted transfer, with one minute reserved for its leg. */
export const transfer = (scene: Scene, body: object, now: number, name = "b"): Scene =>
  send(
    scene,
    {
      type: "action",
      action: CallVerbs.decodeAction("transfer", { to: "+12025550101", ...body }),
      reservedMinutes: [...scene.state.meters.map(({ reservedMinutes }) => reservedMinutes), 60],
      transfer: {
        legId: Id.derive(name, "leg"),
        from: "+12025550150",
        incarnation: "first life",
        microUsdPerMinute: 20_000,
        limit: { afterSecs: 3600, reason: "time_limit" }
      }
    },
    now
  )

export const carrier = (scene: Scene, report: LegReport, now: number): Scene =>
  send(scene, { type: "carrier", event: event(scene, report, now) }, now)

/** A media event of the call's own leg. */
export const media = (scene: Scene, event: MediaEvent, now: number): Scene =>
  carrier(scene, { type: "media", event }, now)

export const dtmf = (scene: Scene, digit: string, now: number): Scene =>
  media(scene, { type: "dtmf", digit, at: now }, now)

/** The last media command; fails without one. */
export const lastMedia = (scene: Scene): MediaCommand => {
  const command = commands(scene).findLast(({ type }) => type === "media")
  if (command?.type !== "media") throw new Error("no media command was sent")
  return command.media
}

/** The id of the work that the last media command began. */
export const lastWork = (scene: Scene): Id.WorkId => {
  const command = lastMedia(scene)
  return "id" in command ? command.id : Ids.work("")
}

/** A recovery whose snapshot has the leg, lacks it, has it in another incarnation, or is missing. */
export const recovered = (
  scene: Pick<Scene, "state">,
  presence: "alive" | "gone" | "elsewhere" | "unknown",
  lostAt: number,
  n = primary(scene.state).heard
): CallInput => {
  const { id, incarnation } = primary(scene.state)
  const facts = { state: "alerting", n, ageMs: 0, answeredMs: null } as const
  return {
    type: "recovered",
    snapshot:
      presence === "unknown"
        ? null
        : {
            incarnation: presence === "alive" ? (incarnation ?? "") : "another life",
            legs: presence === "gone" ? {} : { [id]: facts }
          },
    lostAt
  }
}

/** A verb as the API receives it: the body in wire names, defaults left out. */
export const act = (scene: Scene, verb: CallVerbs.Built, body: object, now: number): Scene =>
  send(scene, { type: "action", action: CallVerbs.decodeAction(verb, body) }, now)

/** Lets the nearest deadline fire at its time. */
export const wait = (scene: Scene): Scene => {
  const next = CallMachine.nextDeadline(scene.state)
  return next === null ? scene : send(scene, next.input, next.at)
}

/** The sum of the debits, in cents. */
export const charged = ({ charges }: Pick<Effects, "charges">): number =>
  charges.reduce((sum, { cents }) => sum + cents, 0)

export const events = (scene: Scene) => scene.effects.flatMap((effects) => effects.events)
export const types = (scene: Scene) => events(scene).map((event) => event.type)
export const commands = (scene: Scene) => scene.effects.flatMap((effects) => effects.commands)
export const last = (scene: Scene) => scene.outcomes.at(-1)
