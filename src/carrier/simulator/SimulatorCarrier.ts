import { Cause, Clock, Deferred, Effect, FiberSet, Layer, Queue } from "effect"
import * as Deadlines from "../../actor/Deadlines.ts"
import { Entropy } from "../../actor/Entropy.ts"
import * as Id from "../../domain/Id.ts"
import * as Monotonic from "../../domain/Monotonic.ts"
import { MediaPlane } from "../../media/MediaPlane.ts"
import {
  type Admission,
  Carrier,
  type CarrierCommand,
  CarrierSink,
  type LegFacts,
  type LegReport,
  type Order
} from "../Carrier.ts"
import * as Bridges from "../Bridges.ts"
import { InboundSimulator } from "../InboundSimulator.ts"
import * as LegMemory from "../LegMemory.ts"
import * as Telling from "../Telling.ts"
import * as CommandFailure from "./CommandFailure.ts"
import * as PhoneScript from "./PhoneScript.ts"
import * as SimulatedLeg from "./SimulatedLeg.ts"

/** Legs at once; the next one ends with `error`, or is not admitted. */
export const maxLegs = 20_000
/** Messages that may wait on one leg; the next one ends the leg with `error`. */
export const mailboxRoom = 256
/** The media plane may take so long to open a leg. */
const openTimeoutMs = 5000

type Mail =
  | { readonly type: "input"; readonly input: SimulatedLeg.Input }
  | { readonly type: "command"; readonly command: CarrierCommand }
  | { readonly type: "report"; readonly report: LegReport }
  /** `done` completes when all mail before it is handled. */
  | { readonly type: "mark"; readonly done: Deferred.Deferred<void> }

/** A leg of this process: its state, and the mailbox of the one fiber that changes it and tells of it. */
interface Line {
  readonly id: Id.LegId
  readonly script: PhoneScript.PhoneScript | null
  readonly mailbox: Queue.Queue<Mail>
  /** A leg that it will be bridged with. */
  readonly near: Id.LegId | undefined
  /** Monotonic milliseconds. */
  readonly since: number
  answeredAt: number | null
  leg: SimulatedLeg.SimulatedLeg
  /** Null while an inbound leg waits for admission. */
  callId: Id.CallId | null
  /** The leg at the other end; null: a phone is there. */
  peer: Line | null
  hasMedia: boolean
  overflowed: boolean
}

const make = Effect.gen(function* () {
  const sink = yield* CarrierSink
  const media = yield* MediaPlane
  const entropy = yield* Entropy
  const deadlines = yield* Deadlines.make
  const fibers = yield* FiberSet.make<void>()
  const fork = yield* FiberSet.runtime(fibers)()
  const lines = new Map<Id.LegId, Line>()
  const incarnation = entropy.hex(8)
  const clock = yield* Clock.Clock
  const steadyMs = () => Monotonic.read(clock)
  const memory = LegMemory.make({ now: steadyMs, isLive: (legId) => lines.has(legId) })

  const post = (line: Line, mail: Mail): void => {
    if (!Queue.offerUnsafe(line.mailbox, mail)) line.overflowed = true
  }
  const farActs = (line: Line | null, act: PhoneScript.FarAct): void => {
    if (line !== null) post(line, { type: "input", input: { type: "far", act } })
  }

  const bridges = Bridges.make({
    legOf: (legId) => {
      const line = lines.get(legId)
      if (line === undefined) return null
      return {
        isTalking: () => line.answeredAt !== null && line.leg.phase === "talking",
        tell: (report) => post(line, { type: "report", report })
      }
    },
    join: (legId, peerLegId, settled) =>
      void fork(
        Effect.match(media.bridge(legId, peerLegId), {
          onSuccess: () => settled(null),
          onFailure: ({ reason }) => settled(reason)
        })
      ),
    part: (legId) => void fork(media.unbridge(legId))
  })

  const tell = Effect.fnUntraced(function* (callId: Id.CallId | null, legId: Id.LegId, report: LegReport) {
    if (callId === null) return
    const isEnd = report.type === "ended"
    const of = { legId, at: yield* Monotonic.now, incarnation, n: memory.next(legId, isEnd) }
    const told = yield* Telling.untilDurable(sink.tell(callId, { ...of, ...report }), isEnd)
    const line = lines.get(legId)
    // No call owns the leg, so it ends.
    if (told === "unknown" && line !== undefined) post(line, { type: "input", input: { type: "hangup" } })
  })

  const connect = Effect.fnUntraced(function* (line: Line) {
    line.hasMedia = true
    yield* media.subscribe(line.id, {
      told: (event) => post(line, { type: "report", report: { type: "media", event } }),
      lost: () => post(line, { type: "input", input: { type: "fault" } })
    })
    const opened =
      line.peer === null
        ? media.openPhone(line.id, line.script?.voice ?? { type: "silence" }, line.near)
        : media.openJoined(line.id, line.peer.id, line.near ?? line.peer.near)
    return yield* opened.pipe(
      Effect.timeout(openTimeoutMs),
      Effect.match({ onSuccess: () => true, onFailure: () => false })
    )
  })

  const disconnect = (line: Line) =>
    Effect.suspend(() => {
      bridges.ended(line.id)
      if (!line.hasMedia) return Effect.void
      line.hasMedia = false
      return media.close(line.id)
    })

  const receive = (line: Line, input: SimulatedLeg.Input): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { leg, outcomes } = SimulatedLeg.step(line.leg, input, yield* Monotonic.now)
      line.leg = leg
      for (const outcome of outcomes) {
        switch (outcome.type) {
          case "ringing":
            yield* tell(line.callId, line.id, { type: "ringing", resume: null })
            break
          case "talk":
            if (!(yield* connect(line))) return yield* receive(line, { type: "fault" })
            line.answeredAt = steadyMs()
            yield* tell(line.callId, line.id, { type: "answered", resume: null })
            break
          case "pass":
            farActs(line.peer, outcome.act)
            break
          case "over":
            yield* disconnect(line)
            yield* tell(line.callId, line.id, { type: "ended", ...outcome.end })
        }
      }
    })

  const obey = (line: Line, command: CarrierCommand): Effect.Effect<void> => {
    switch (command.type) {
      case "ring":
      case "answer":
      case "hangup":
        return receive(line, { type: command.type })
      case "reject":
        return receive(line, { type: "reject", cause: command.cause })
      case "media":
        if (line.leg.phase === "talking") return media.command(line.id, command.tenantId, command.media)
        break
      case "bridge":
        return Effect.sync(() => bridges.bridge(command))
      case "unbridge":
        return Effect.sync(() => bridges.unbridge(line.id))
      // Not carried out yet.
      case "refer":
      case "dial":
        break
    }
    const failure = CommandFailure.of(command, "not_answered")
    return failure === null ? Effect.void : tell(line.callId, line.id, failure)
  }

  const handle = (line: Line, mail: Mail): Effect.Effect<void> => {
    switch (mail.type) {
      case "input":
        return receive(line, mail.input)
      case "command":
        return obey(line, mail.command)
      case "report":
        return tell(line.callId, line.id, mail.report)
      case "mark":
        return Effect.asVoid(Deferred.succeed(mail.done, undefined))
    }
  }

  const wake = (line: Line) => () => post(line, { type: "input", input: { type: "due" } })

  const live = (line: Line) =>
    Effect.gen(function* () {
      while (line.leg.phase !== "over") {
        deadlines.set(line.id, line.leg.agenda[0]?.at ?? null, wake(line))
        const mail = yield* Queue.take(line.mailbox)
        yield* line.overflowed ? receive(line, { type: "fault" }) : handle(line, mail)
      }
    })

  /** Runs however the leg ends: nothing of it stays behind, and its other end does not wait for it. */
  const release = Effect.fnUntraced(function* (line: Line) {
    deadlines.set(line.id, null, wake(line))
    lines.delete(line.id)
    for (const mail of yield* Queue.clear(line.mailbox))
      if (mail.type === "mark") Deferred.doneUnsafe(mail.done, Effect.void)
    if (line.leg.phase !== "over")
      farActs(line.peer, { type: "ends", end: { cause: "error", sipStatus: null, by: "network" } })
    yield* disconnect(line)
  })

  const start = (line: Line, life: Effect.Effect<void>) => {
    lines.set(line.id, line)
    return FiberSet.run(
      fibers,
      life.pipe(
        Effect.ensuring(release(line)),
        Effect.tapCause((cause) =>
          Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("a simulated leg died", cause)
        ),
        Effect.annotateLogs({ legId: line.id })
      )
    )
  }

  const lineOf = Effect.fnUntraced(function* (
    id: Id.LegId,
    direction: SimulatedLeg.SimulatedLeg["direction"],
    script: PhoneScript.PhoneScript | null,
    callId: Id.CallId | null,
    near?: Id.LegId
  ): Effect.fn.Return<Line> {
    const mailbox = yield* Queue.dropping<Mail>(mailboxRoom)
    const leg = SimulatedLeg.make(direction, script, yield* Monotonic.now)
    const of = { id, script, mailbox, near, since: steadyMs(), answeredAt: null }
    return { ...of, leg, callId, peer: null, hasMedia: false, overflowed: false }
  })

  /** Asks for the admission of an inbound leg, tells the caller of the answer, then runs the leg. */
  const takeIn = (
    line: Line,
    call: { readonly from: string; readonly to: string },
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
          resume: null
        })
        .pipe(Effect.onError(() => Effect.sync(() => told({ admitted: false, cause: "unavailable" }))))
      told(admission)
      if (!admission.admitted) return
      line.callId = admission.callId
      yield* live(line)
    })

  /** A number that is no phone's: rings at the tenant that owns it, and joins both legs. */
  const ringTenant = Effect.fnUntraced(function* (
    caller: Line,
    command: Extract<CarrierCommand, { readonly type: "dial" }>
  ) {
    const callee = yield* lineOf(Id.derive(command.commandId, "leg"), "inbound", null, null)
    callee.peer = caller
    caller.peer = callee
    yield* start(
      callee,
      takeIn(callee, command, (admission) => {
        if (admission.admitted) return
        callee.leg = { ...callee.leg, phase: "over" }
        farActs(caller, { type: "ends", end: SimulatedLeg.refusalOf(admission.cause) })
      })
    )
  })

  const dial = Effect.fnUntraced(function* (command: Extract<CarrierCommand, { readonly type: "dial" }>) {
    const script = PhoneScript.ofNumber(command.to)
    const line = yield* lineOf(command.legId, "outbound", script, command.callId, command.near)
    // It may be joined to a second leg: both must fit.
    if (lines.size + 2 > maxLegs) post(line, { type: "input", input: { type: "fault" } })
    else if (script === null) yield* ringTenant(line, command)
    yield* start(line, live(line))
  })

  /** Answers a command for a leg that this process never had, or no longer has. */
  const answerUnknown = (command: CarrierCommand) =>
    Effect.forEach(CommandFailure.ofUnknownLeg(command), (report) => tell(command.callId, command.legId, report), {
      discard: true
    })

  const interpret = (order: Order): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (!memory.admits(order)) return Effect.void
      const { command } = order
      const line = lines.get(command.legId)
      if (line !== undefined) return Effect.sync(() => post(line, { type: "command", command }))
      return command.type === "dial" ? dial(command) : Effect.asVoid(FiberSet.run(fibers, answerUnknown(command)))
    })

  const simulateInbound = Effect.fnUntraced(function* (call: { readonly from: string; readonly to: string }) {
    if (lines.size + 1 > maxLegs) return { admitted: false, cause: "unavailable" } as const
    const line = yield* lineOf(Id.derive(entropy.hex(16), "leg"), "inbound", PhoneScript.caller, null)
    const admission = yield* Deferred.make<Admission>()
    yield* start(
      line,
      takeIn(line, call, (told) => Deferred.doneUnsafe(admission, Effect.succeed(told)))
    )
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

  const factsOf = (line: Line): LegFacts => {
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
    caughtUp
  })

  return InboundSimulator.of({ simulateInbound })
})

/**
 * The carrier of simulated phones, registered as `simulator`. `PhoneScript` says what each number does, `SimulatedLeg`
 * decides, and the media plane carries the sound in memory. Its only clock is the fibers'.
 *
 * Legs die with the process, so a leg that it does not know is `lost` at once. When the layer's scope closes, legs
 * vanish without an event.
 */
export const layer = Layer.effect(InboundSimulator, make)
