import { Clock, Deferred, Effect, FiberSet, Layer, Queue } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Id from "../../domain/Id.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { MediaPlane } from "../../media/plane/MediaPlane.ts"
import {
  type Admission,
  Carrier,
  type CarrierCommand,
  CarrierSink,
  type InboundOffer,
  type LegFacts,
  type LegReport,
  type Order
} from "../Carrier.ts"
import type { Bridgeable } from "../bridge/Bridges.ts"
import { SharedBridges } from "../bridge/SharedBridges.ts"
import { SharedRooms } from "../room/SharedRooms.ts"
import * as CallIdentity from "../number/CallIdentity.ts"
import * as CommandFailure from "../CommandFailure.ts"
import * as EarlyMedia from "../EarlyMedia.ts"
import { type CallerActs, InboundSimulator } from "../InboundSimulator.ts"
import * as OrderMemory from "../OrderMemory.ts"
import * as SimulatedLine from "./SimulatedLine.ts"
import * as LineLife from "./LineLife.ts"
import * as LineMedia from "./LineMedia.ts"
import * as PhoneScript from "./PhoneScript.ts"
import * as Referrals from "./Referrals.ts"
import * as SimulatedLeg from "./SimulatedLeg.ts"

/** The most legs at once; the next one ends with `error`, or is not admitted. */
const maxLegs = 20_000

const make = Effect.fnUntraced(function* (phones: PhoneScript.Phones) {
  const sink = yield* CarrierSink
  const media = yield* MediaPlane
  const lineMedia = LineMedia.make(media)
  const entropy = yield* Entropy
  const fibers = yield* FiberSet.make<void>()
  const fork = yield* FiberSet.runtime(fibers)()
  const lines = new Map<Id.LegId, SimulatedLine.SimulatedLine>()
  const incarnation = entropy.hex(8)
  const clock = yield* Clock.Clock
  const steadyMs = () => Monotonic.read(clock)
  const memory = OrderMemory.make({ now: steadyMs, isLive: (legId: Id.LegId) => lines.has(legId) })

  const legOf = (legId: Id.LegId): Bridgeable | null => {
    const line = lines.get(legId)
    if (line === undefined) return null
    return {
      isTalking: () => line.answeredAt !== null && line.leg.phase === "talking",
      tell: (told) => SimulatedLine.report(line, told)
    }
  }
  const bridges = (yield* SharedBridges).add(media, {
    legOf,
    join: (legId, peerLegId, settled) =>
      void fork(
        Effect.match(media.bridge(legId, peerLegId), {
          onSuccess: () => settled(null),
          onFailure: ({ reason }) => settled(reason)
        })
      ),
    part: (legId) => void fork(media.unbridge(legId)),
    leaveRoom: (legId) => rooms.part(legId)
  })
  const rooms = (yield* SharedRooms).add(media, { incarnation, legOf, unbridge: (legId) => bridges.unbridge(legId) })

  const { live, start, tell } = yield* LineLife.make({
    lines,
    fibers,
    incarnation,
    memory,
    media: lineMedia,
    bridges,
    rooms,
    refer: (line, command) => refer(line, command)
  })

  /** Requests the admission of an inbound leg, passes the answer to the caller, then runs the leg. */
  const takeIn = (
    line: SimulatedLine.SimulatedLine,
    call: Pick<InboundOffer, "from" | "to" | "headers"> & { readonly callerIdName?: string },
    told: (admission: Admission) => void
  ) =>
    Effect.gen(function* () {
      const at = yield* Monotonic.now
      const admission = yield* sink
        .offer({
          legId: line.id,
          at,
          adapter: "simulator",
          incarnation,
          source: null,
          from: call.from,
          to: call.to,
          resume: null,
          ...(call.headers === undefined ? {} : { headers: call.headers }),
          ...(call.callerIdName === undefined ? {} : { identity: CallIdentity.named(call.from, call.callerIdName) })
        })
        .pipe(Effect.onError(() => Effect.sync(() => told({ admitted: false, cause: "unavailable" }))))
      told(admission)
      if (!admission.admitted) return
      line.callId = admission.callId
      yield* live(line)
    })

  /** For a number that is no phone's: rings at the tenant that owns it, and joins both legs. */
  const ringTenant = Effect.fnUntraced(function* (
    caller: SimulatedLine.SimulatedLine,
    command: Extract<CarrierCommand, { readonly type: "dial" }>
  ) {
    const callee = yield* SimulatedLine.make("inbound", {
      id: Id.derive(command.commandId, "leg"),
      script: null,
      number: command.from
    })
    SimulatedLine.join(caller, callee)
    yield* start(
      callee,
      takeIn(callee, command, (admission) => {
        if (admission.admitted) return
        callee.leg = { ...callee.leg, phase: "over" }
        callee.hears?.({ type: "ends", end: SimulatedLeg.refusalOf(admission.cause) })
      })
    )
  })

  /** Hands a leg to the holder of its phone and returns the receiver of our acts; null when the phone has no holder. */
  const hold = (line: SimulatedLine.SimulatedLine, number: string): SimulatedLine.SimulatedLine["hears"] =>
    line.script?.holder?.({ legId: line.id, number, act: SimulatedLine.farActs(line) }) ?? null

  /** A phone calls a tenant; `hears` receives the acts of our side, `told` the admission. */
  const phoneCalls = Effect.fnUntraced(function* (
    call: { readonly from: string; readonly to: string; readonly acts?: CallerActs },
    hears: SimulatedLine.SimulatedLine["hears"],
    told: (admission: Admission) => void
  ) {
    if (lines.size + 1 > maxLegs) return told({ admitted: false, cause: "unavailable" })
    const line = yield* SimulatedLine.make("inbound", {
      id: Id.derive(entropy.hex(16), "leg"),
      script: call.acts === undefined ? phones.calling(call.from) : PhoneScript.acting(call.acts),
      number: call.from
    })
    const held = hold(line, call.to)
    line.hears = (act) => {
      held?.(act)
      hears?.(act)
    }
    yield* start(line, takeIn(line, { from: call.from, to: call.to }, told))
  })

  const refer = Referrals.make({
    phones,
    fork: (effect) => void fork(effect),
    isLive: (line) => lines.get(line.id) === line,
    callTenant: (from, to, hears) =>
      phoneCalls({ from, to }, hears, (admission) => {
        if (!admission.admitted) hears({ type: "ends", end: SimulatedLeg.refusalOf(admission.cause) })
      })
  })

  const dial = Effect.fnUntraced(function* (command: Extract<CarrierCommand, { readonly type: "dial" }>) {
    const script = phones.called(command.to)
    const { callId, legId, near = null, tenantId, to } = command
    const line = yield* SimulatedLine.make("outbound", { id: legId, script, number: to, callId, tenantId, near })
    line.early = EarlyMedia.make(command, (tenantId, early) => void fork(media.command(legId, tenantId, early)))
    // The leg may be joined to a second one, so both must fit.
    if (lines.size + 2 > maxLegs) SimulatedLine.post(line, { type: "input", input: { type: "fault" } })
    else if (script === null) yield* ringTenant(line, command)
    else line.hears = hold(line, command.from)
    yield* start(line, live(line))
  })

  const tellAll = ({ callId, legId }: CarrierCommand, reports: ReadonlyArray<LegReport>) =>
    Effect.forEach(reports, (report) => tell(callId, legId, report), { discard: true })

  /** Answers a command for a leg that this process never had. */
  const answerUnknown = (command: CarrierCommand) => tellAll(command, CommandFailure.ofUnknownLeg(command))

  /** Answers a command for a leg whose end was reported. */
  const answerOver = (command: CarrierCommand) => {
    const failure = CommandFailure.of(command, "unknown_leg")
    return tellAll(command, failure === null ? [] : [failure])
  }

  const interpret = (order: Order): Effect.Effect<void> =>
    Effect.suspend(() => {
      const admitted = memory.admits(order.authority, order.command.legId, order.command.commandId)
      if (admitted === "no") return Effect.void
      const { command } = order
      const line = lines.get(command.legId)
      // A leg that is over answers its remaining commands when its end is durable.
      if (line !== undefined) return Effect.sync(() => SimulatedLine.post(line, { type: "command", command }))
      if (admitted === "over") return Effect.asVoid(FiberSet.run(fibers, answerOver(command)))
      return command.type === "dial" ? dial(command) : Effect.asVoid(FiberSet.run(fibers, answerUnknown(command)))
    })

  const simulateInbound: InboundSimulator["Service"]["simulateInbound"] = Effect.fnUntraced(function* (call) {
    const admission = yield* Deferred.make<Admission>()
    yield* phoneCalls(call, null, (told) => Deferred.doneUnsafe(admission, Effect.succeed(told)))
    return yield* Deferred.await(admission)
  })

  const caughtUp = (legId: Id.LegId): Effect.Effect<void> =>
    Effect.suspend(() => {
      const line = lines.get(legId)
      if (line === undefined) return Effect.void
      const done = Deferred.makeUnsafe<void>()
      return Queue.offerUnsafe(line.mailbox, { type: "mark", done })
        ? Deferred.await(done)
        : Effect.andThen(Effect.sleep(100), caughtUp(legId))
    })

  const factsOf = (line: SimulatedLine.SimulatedLine): LegFacts => {
    const now = steadyMs()
    return {
      state: line.leg.phase === "over" ? "over" : line.answeredAt === null ? "alerting" : "answered",
      n: memory.last(line.id),
      ageMs: now - line.since,
      answeredMs: line.answeredAt === null ? null : now - line.answeredAt,
      ...bridges.facts(line.id)
    }
  }

  yield* (yield* Carrier).register("simulator", {
    incarnation,
    plane: media,
    interpret,
    snapshot: (authority, legIds) =>
      Effect.sync(() => {
        memory.obey(authority)
        const legs: Record<string, LegFacts> = {}
        for (const legId of legIds ?? lines.keys()) {
          const line = lines.get(legId)
          if (line !== undefined && line.callId !== null) legs[legId] = factsOf(line)
        }
        return { incarnation, legs }
      }),
    caughtUp,
    rooms: rooms.rooms
  })

  return InboundSimulator.of({ simulateInbound })
})

/**
 * The carrier of these phones, registered as `simulator`. `PhoneScript` defines each number's behaviour, `SimulatedLeg`
 * decides, and the media plane carries the sound in memory. It has no clock besides that of its fibers.
 *
 * Legs die with the process, so a leg that it does not know is `lost` at once. When the layer's scope closes, legs
 * vanish without an event.
 */
export const layerOf = (phones: PhoneScript.Phones) => Layer.effect(InboundSimulator, make(phones))

/** The phones of every installation. */
export const layer = layerOf(PhoneScript.simulated)
