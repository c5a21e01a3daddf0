import { Cause, Deferred, Effect, FiberSet, Queue } from "effect"
import * as Deadlines from "../../runtime/actor/Deadlines.ts"
import * as Outage from "../../runtime/store/Outage.ts"
import type * as Id from "../../domain/Id.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import type { Bridges } from "../bridge/Bridges.ts"
import { type CarrierCommand, CarrierSink, type LegReport } from "../Carrier.ts"
import * as CommandFailure from "../CommandFailure.ts"
import type { OrderMemory } from "../OrderMemory.ts"
import type { Joined } from "../room/SharedRooms.ts"
import * as Telling from "../Telling.ts"
import * as SimulatedLine from "./SimulatedLine.ts"
import type { LineMedia } from "./LineMedia.ts"
import * as SimulatedLeg from "./SimulatedLeg.ts"

interface Options {
  /** The live legs. */
  readonly lines: Map<Id.LegId, SimulatedLine.SimulatedLine>
  readonly fibers: FiberSet.FiberSet<void>
  readonly incarnation: string
  readonly memory: OrderMemory<Id.LegId>
  readonly media: LineMedia
  readonly bridges: Bridges
  readonly rooms: Joined
  readonly refer: (
    line: SimulatedLine.SimulatedLine,
    command: Extract<CarrierCommand, { readonly type: "refer" }>
  ) => Effect.Effect<void>
}

/**
 * The life of a leg: the one fiber that takes its mail, carries out the decisions of `SimulatedLeg` and reports them;
 * and the cleanup however the leg ends.
 */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { bridges, fibers, incarnation, lines, media, memory, refer, rooms } = options
  const sink = yield* CarrierSink
  const deadlines = yield* Deadlines.make

  const tell = Effect.fnUntraced(function* (callId: Id.CallId | null, legId: Id.LegId, report: LegReport) {
    if (callId === null) return
    const isEnd = report.type === "ended"
    const of = { legId, at: yield* Monotonic.now, incarnation, n: memory.next(legId, isEnd) }
    const told = yield* Telling.untilDurable(sink.tell(callId, { ...of, ...report }), isEnd)
    const line = lines.get(legId)
    // No call owns the leg, so it ends.
    if (told === "unknown" && line !== undefined) SimulatedLine.post(line, { type: "input", input: { type: "hangup" } })
  })

  const receive = (line: SimulatedLine.SimulatedLine, input: SimulatedLeg.Input): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { leg, outcomes } = SimulatedLeg.step(line.leg, input, yield* Monotonic.now)
      line.leg = leg
      for (const outcome of outcomes) {
        switch (outcome.type) {
          case "ringing":
            yield* tell(line.callId, line.id, { type: "ringing", resume: null })
            break
          case "early":
            if (!(yield* media.connect(line))) return yield* receive(line, { type: "fault" })
            line.early?.start(true)
            yield* tell(line.callId, line.id, { type: "early_media", resume: null })
            break
          case "talk":
            line.early?.end()
            if (!line.hasMedia && !(yield* media.connect(line))) return yield* receive(line, { type: "fault" })
            line.answeredAt = yield* Monotonic.now
            yield* tell(line.callId, line.id, { type: "answered", resume: null })
            break
          case "pass":
            line.hears?.(outcome.act)
            break
          case "over":
            // The holder of a phone gets its own acts, too.
            if (line.script?.holder !== undefined)
              line.hears?.({ type: "ends", end: SimulatedLeg.mirrored(outcome.end) })
            bridges.ended(line.id)
            rooms.ended(line.id)
            yield* media.disconnect(line)
            yield* tell(line.callId, line.id, { type: "ended", ...outcome.end })
        }
      }
    })

  const obey = (line: SimulatedLine.SimulatedLine, command: CarrierCommand): Effect.Effect<void> => {
    switch (command.type) {
      case "answer":
        line.tenantId = command.tenantId
        return receive(line, { type: "answer" })
      case "ring":
      case "hangup":
        return receive(line, { type: command.type })
      case "reject":
        return receive(line, { type: "reject", cause: command.cause })
      case "media": {
        const handed = media.command(line, command)
        if (handed !== null) return handed
        break
      }
      case "bridge":
        return Effect.sync(() => bridges.bridge(command))
      case "unbridge":
        return Effect.sync(() => bridges.unbridge(line.id))
      case "refer":
        if (line.leg.phase === "talking") return refer(line, command)
        break
      case "join_room":
        return Effect.sync(() => rooms.join(command))
      case "leave_room":
        return Effect.sync(() => rooms.leave(line.id))
      case "dial":
        break
    }
    const failure = CommandFailure.of(command, "not_answered")
    return failure === null ? Effect.void : tell(line.callId, line.id, failure)
  }

  const handle = (line: SimulatedLine.SimulatedLine, mail: SimulatedLine.Mail): Effect.Effect<void> => {
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

  const wake = (line: SimulatedLine.SimulatedLine) => () =>
    SimulatedLine.post(line, { type: "input", input: { type: "due" } })

  const live = (line: SimulatedLine.SimulatedLine) =>
    Effect.gen(function* () {
      while (line.leg.phase !== "over") {
        deadlines.set(line.id, line.leg.agenda[0]?.at ?? null, wake(line))
        const mail = yield* Queue.take(line.mailbox)
        yield* line.overflowed ? receive(line, { type: "fault" }) : handle(line, mail)
      }
    })

  /** Runs however the leg ends, so that it leaves nothing and its other end does not wait for it. */
  const release = Effect.fnUntraced(function* (line: SimulatedLine.SimulatedLine) {
    deadlines.set(line.id, null, wake(line))
    lines.delete(line.id)
    const left: Array<CarrierCommand> = line.waiting.splice(0)
    for (const mail of yield* Queue.clear(line.mailbox))
      if (mail.type === "mark") Deferred.doneUnsafe(mail.done, Effect.void)
      else if (mail.type === "command") left.push(mail.command)
    if (line.leg.phase !== "over")
      line.hears?.({ type: "ends", end: { cause: "error", sipStatus: null, by: "network" } })
    bridges.ended(line.id)
    rooms.ended(line.id)
    yield* media.disconnect(line)
    // These failures follow the leg's end, which has been reported.
    const failures = left.flatMap((command) => CommandFailure.of(command, "unknown_leg") ?? [])
    yield* FiberSet.run(
      fibers,
      Effect.forEach(failures, (failure) => tell(line.callId, line.id, failure), { discard: true })
    )
  })

  const start = (line: SimulatedLine.SimulatedLine, life: Effect.Effect<void>) => {
    lines.set(line.id, line)
    return FiberSet.run(
      fibers,
      life.pipe(
        Effect.ensuring(release(line)),
        Effect.tapCause((cause) =>
          Cause.hasInterruptsOnly(cause) ? Effect.void : Outage.logged("a simulated leg died", cause)
        ),
        Effect.annotateLogs({ legId: line.id })
      )
    )
  }

  return { tell, live, start } as const
})
