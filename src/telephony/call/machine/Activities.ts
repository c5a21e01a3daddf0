import { type Outcome, rejected, type StepContext, unchanged } from "../../../runtime/actor/Machine.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import type { MediaCommand, MediaEnded } from "../../../ports/media/MediaMessage.ts"
import * as StepBuilder from "./StepBuilder.ts"
import { type CallState, isTerminal } from "./CallState.ts"
import type { Leg } from "./leg/Leg.ts"
import * as Meter from "./Meter.ts"
import type { Started, Ending, ActionKind, Activity, Moment, Occasion, Progress, Turn } from "../verb/ActionKind.ts"
import { familiesOf, type Row, type Rows } from "../verb/CallVerbs.ts"

/**
 * Work of the tenant on a call: items of the families. Each begins once and ends once, whatever happens first.
 *
 * An item is bound to its leg, in `work`, and ends with it. Or it outlives its leg, as a recording that is still being
 * stored does; then it is kept in `outliving` until its outcome comes or its time is up, and the call is not settled
 * before.
 */
type Result = StepBuilder.StepBuilder | Outcome<never, never>

export type Activities = ReturnType<typeof make>

/** The indexes are above those of the other commands of a step. */
const nextCommandId = (builder: StepBuilder.StepBuilder, context: StepContext): Id.CommandId =>
  StepBuilder.commandId(context, 200 + builder.commands.length)

/** How many items beyond its limit a family may have that are stopping and have not reported their end. */
const mostStopping = 32

/** Makes the work rules for a table of verbs. */
export const make = (verbs: Rows) => {
  const families = new Map(familiesOf(verbs).map((family) => [family.name, family]))

  const familyOf = (item: Activity): ActionKind => {
    const family = families.get(item.type)
    if (family === undefined) throw new Error(`there is no family of verbs named ${item.type}`)
    return family
  }

  const finish = (
    builder: StepBuilder.StepBuilder,
    item: Activity,
    ending: Ending,
    at: number
  ): StepBuilder.StepBuilder => {
    const { state } = builder
    const others = StepBuilder.set(builder, {
      work: state.work.filter((other) => other !== item),
      outliving: state.outliving.filter((other) => other.item !== item),
      meters: Meter.workEnded(state.meters, item.id, at)
    })
    return say(others, item, ending, at)
  }

  const say = (
    builder: StepBuilder.StepBuilder,
    item: Activity,
    ending: Ending,
    at: number
  ): StepBuilder.StepBuilder => {
    if (ending === null) return builder
    const { state } = builder
    const told = ending(StepBuilder.ids(state, item.legId), at, state)
    return "type" in told
      ? StepBuilder.emit(builder, told)
      : StepBuilder.write(StepBuilder.emit(builder, ...told.events), told.rows)
  }

  /** Applies the reaction of an item: it continues or has ended, emits events, and sends commands. */
  const turn = (
    builder: StepBuilder.StepBuilder,
    item: Activity,
    { asks, isFree, item: next, leaves = false, media = [], tells }: Turn<Activity>,
    at: number,
    context: StepContext
  ): StepBuilder.StepBuilder => {
    const leg = builder.state.legs.find(({ id }) => id === item.legId)
    const commandId = nextCommandId(builder, context)
    const kept = next === null || asks === undefined ? next : { ...next, commandId, media: asks }
    const told =
      kept === null
        ? finish(builder, item, tells, at)
        : say(leaves ? leave(replace(builder, item, kept), kept, at) : replace(builder, item, kept), item, tells, at)
    const charged =
      isFree === undefined
        ? told
        : StepBuilder.set(told, { meters: Meter.paused(told.state.meters, item.id, isFree, at) })
    if (leg === undefined) return charged
    const asked = asks === undefined ? charged : tell(charged, leg, commandId, asks)
    return media.reduce((open, command) => tell(open, leg, nextCommandId(open, context), command), asked)
  }

  const replace = (builder: StepBuilder.StepBuilder, item: Activity, by: Activity): StepBuilder.StepBuilder =>
    by === item
      ? builder
      : StepBuilder.set(builder, {
          work: builder.state.work.map((other) => (other === item ? by : other)),
          outliving: builder.state.outliving.map((other) => (other.item === item ? { ...other, item: by } : other))
        })

  /** Moves an item to those that outlive their leg; it may have been moved before. */
  const leave = (builder: StepBuilder.StepBuilder, item: Activity, at: number): StepBuilder.StepBuilder => {
    const { legEnded } = familyOf(item)
    const { state } = builder
    return "ending" in legEnded || !state.work.includes(item)
      ? builder
      : StepBuilder.set(builder, {
          work: state.work.filter((other) => other !== item),
          outliving: [...state.outliving, { item, until: at + legEnded.outlivesMs }],
          meters: Meter.workEnded(state.meters, item.id, at)
        })
  }

  const tell = (
    builder: StepBuilder.StepBuilder,
    leg: Leg,
    commandId: Id.CommandId,
    media: MediaCommand
  ): StepBuilder.StepBuilder =>
    StepBuilder.send(builder, {
      type: "media",
      commandId,
      callId: builder.state.id,
      legId: leg.id,
      tenantId: builder.state.tenantId,
      media
    })

  /** `reservedMinutes` are those of the item's meter; 0 where nothing had to be reserved. */
  const start = (
    builder: StepBuilder.StepBuilder,
    leg: Leg,
    item: Activity,
    at: number,
    reservedMinutes: number
  ): StepBuilder.StepBuilder => {
    const { meter } = familyOf(item)
    const { state } = builder
    const started = StepBuilder.set(builder, {
      work: [...state.work, item],
      ...(meter === undefined
        ? {}
        : {
            meters: Meter.started(
              state.meters,
              {
                ...Meter.ofWork(meter.kind, leg, state.prices[meter.kind], reservedMinutes),
                workId: item.id,
                startedAt: at
              },
              meter.per === "item"
            )
          })
    })
    const told = say(started, item, familyOf(item).started?.(item) ?? null, at)
    return item.media === null ? told : tell(told, leg, item.commandId, item.media)
  }

  const itemOf = (family: ActionKind, leg: Leg, commandId: Id.CommandId, item: Started<Activity>): Activity => ({
    ...item,
    type: family.name,
    commandId,
    legId: leg.id,
    stop: null
  })

  const momentOf = (state: CallState, leg: Leg, context: StepContext, commandId: Id.CommandId): Moment => ({
    now: context.now,
    commandId,
    derive: (kind) => Id.WorkId.make(Id.deriveOpaque(context.seed, kind)),
    plan: state.plan,
    isBridged: leg.bridge !== null,
    of: { tenantId: state.tenantId, callId: state.id, legId: leg.id, from: leg.from, to: leg.to }
  })

  /** An item that is stopping no longer counts, because its stop may have been answered already. */
  const running = (state: CallState, family: ActionKind | null): ReadonlyArray<Activity> =>
    state.work.filter((item) => item.type === family?.name && item.stop === null)

  const stopping = (state: CallState, { name }: ActionKind): number =>
    state.work.filter((item) => item.type === name && item.stop !== null).length

  const act = (
    builder: StepBuilder.StepBuilder,
    leg: Leg,
    row: Row,
    body: unknown,
    context: StepContext,
    reservedMinutes: number
  ): Result => {
    const { family } = row
    if (family === null || row.act === undefined) return unchanged
    const commandId = StepBuilder.commandId(context)
    const act = row.act(momentOf(builder.state, leg, context, commandId), body)
    switch (act.type) {
      case "refuse":
        return rejected(act.error)
      case "begin":
        if (
          running(builder.state, family).length >= family.limit ||
          stopping(builder.state, family) >= family.limit + mostStopping
        )
          return rejected(ApiError.of(family.fullCode ?? "conflict", family.full))
        if (family.meter !== undefined && builder.state.meters.length >= Meter.most)
          return rejected(ApiError.of("conflict", `this call has begun as much paid work as a call may`))
        return start(builder, leg, itemOf(family, leg, commandId, act.item), context.now, reservedMinutes)
      case "stop": {
        const { media, none, which } = act
        const items = running(builder.state, family).filter(
          (item) => item.legId === leg.id && (act.only === undefined || act.only(item))
        )
        if (none !== undefined && items.length === 0) return rejected(none)
        const marked = (which === "all" ? items : items.slice(0, 1)).reduce(
          (open, item) => replace(open, item, { ...item, stop: { commandId, media } }),
          builder
        )
        return tell(marked, leg, commandId, media)
      }
      case "end":
        return running(builder.state, family)
          .filter(({ legId }) => legId === leg.id)
          .reduce(
            (open, item) =>
              turn(
                open,
                item,
                { item: null, tells: act.ending(item), media: act.media?.(item) ?? [] },
                context.now,
                context
              ),
            builder
          )
      case "change": {
        const item = running(builder.state, family).find(({ legId }) => legId === leg.id)
        if (item === undefined) return rejected(act.none)
        const changed = act.change(item)
        return "code" in changed ? rejected(changed) : turn(builder, item, changed, context.now, context)
      }
    }
  }

  /** An item whose family sends no command gets no end from the media. */
  const ended = (
    builder: StepBuilder.StepBuilder,
    item: Activity | undefined,
    end: Pick<MediaEnded, "status" | "reason">,
    at: number,
    context: StepContext
  ): Result => {
    if (item === undefined) return unchanged
    const family = familyOf(item)
    const { sound } = family
    if (sound !== undefined)
      return sound.idOf(item) === null ? unchanged : turn(builder, item, sound.ended(item, end, at), at, context)
    if (family.told === undefined) return unchanged
    const isFree = end.status === "failed" && family.meter?.isFreeWhenFailed === true && !isTerminal(builder.state)
    const open = isFree ? StepBuilder.set(builder, { meters: Meter.voided(builder.state.meters, item.id) }) : builder
    return finish(open, item, family.told(item, end), at)
  }

  /** Whether the id of a media event is that of this item, or of its sound. */
  const isOf = (id: Id.WorkId) => (item: Activity) => (familyOf(item).sound?.idOf(item) ?? item.id) === id

  const everything = ({ outliving, work }: CallState) => [...work, ...outliving.map(({ item }) => item)]

  /** Items that receive digits are closed before those that make sound. */
  const bound = (state: CallState, legId: Id.LegId) =>
    state.work
      .filter((item) => item.legId === legId)
      .toSorted((a, b) => Number(familyOf(b).digit !== undefined) - Number(familyOf(a).digit !== undefined))

  /** All deadlines of the work. */
  const dues = (
    state: CallState
  ): ReadonlyArray<{
    readonly at: number
    readonly item: Activity
    readonly turn: (now: number) => Turn<Activity>
  }> => [
    ...state.work.flatMap((item) => {
      const { deadline } = familyOf(item)
      if (deadline === undefined) return []
      const due = (now: number): Turn<Activity> =>
        "due" in deadline ? deadline.due(item, now) : { item: null, tells: deadline.ending(item) }
      return [{ at: deadline.at(item), item, turn: due }]
    }),
    ...state.outliving.map(({ item, until }) => {
      const { legEnded } = familyOf(item)
      return {
        at: until,
        item,
        turn: () => ({ item: null, tells: "expired" in legEnded ? legEnded.expired(item) : null })
      }
    })
  ]

  return {
    verbs,
    act,
    isRunning: (state: CallState, { family }: Row): boolean => running(state, family).length > 0,
    /** Handles the media's report that an item has ended, even one that outlived its leg. */
    told: (builder: StepBuilder.StepBuilder, end: MediaEnded, at: number, context: StepContext): Result =>
      ended(builder, everything(builder.state).find(isOf(end.id)), end, at, context),
    /** Handles a command of an item that the carrier could not carry out, perhaps because its leg had ended by then. */
    refused: (
      builder: StepBuilder.StepBuilder,
      commandId: Id.CommandId,
      reason: string,
      at: number,
      context: StepContext
    ): Result =>
      ended(
        builder,
        everything(builder.state).find((item) => item.commandId === commandId),
        { status: "failed", reason },
        at,
        context
      ),
    /** Gives a digit to every item on the leg that receives digits. */
    digit: (
      builder: StepBuilder.StepBuilder,
      leg: Leg,
      digit: string,
      at: number,
      context: StepContext
    ): StepBuilder.StepBuilder =>
      builder.state.work.reduce((open, item) => {
        const heard = item.legId === leg.id ? familyOf(item).digit?.(item, digit, at) : undefined
        return heard === undefined ? open : turn(open, item, heard, at, context)
      }, builder),
    /** Handles a media report about an item before its end, even about one that outlived its leg. */
    heard: (builder: StepBuilder.StepBuilder, event: Progress, at: number, context: StepContext): Result => {
      const item = everything(builder.state).find(({ id }) => id === event.id)
      const heard = item === undefined ? undefined : familyOf(item).heard?.(item, event, at)
      return item === undefined || heard === undefined ? unchanged : turn(builder, item, heard, at, context)
    },
    /** Begins the work that begins by itself on this occasion. */
    starts: (
      builder: StepBuilder.StepBuilder,
      leg: Leg,
      occasion: Occasion,
      at: number,
      context: StepContext
    ): StepBuilder.StepBuilder =>
      [...families.values()].reduce((open, family) => {
        const commandId = nextCommandId(open, context)
        const moment = { ...momentOf(open.state, leg, context, commandId), now: at }
        const item = family.starts?.(open.state.plan, occasion, moment) ?? null
        return item === null || running(open.state, family).length >= family.limit
          ? open
          : start(open, leg, itemOf(family, leg, commandId, item), at, 0)
      }, builder),
    /** Ends the items that are bound to the leg, and sets those apart that outlive it. */
    legEnded: (builder: StepBuilder.StepBuilder, legId: Id.LegId, at: number): StepBuilder.StepBuilder =>
      bound(builder.state, legId).reduce((open, item) => {
        const { legEnded } = familyOf(item)
        return "ending" in legEnded ? finish(open, item, legEnded.ending(item), at) : leave(open, item, at)
      }, builder),
    /** Repeats, under the same ids, the commands that may not have reached the leg. */
    resend: (builder: StepBuilder.StepBuilder, leg: Leg): StepBuilder.StepBuilder =>
      builder.state.work
        .filter(({ legId }) => legId === leg.id)
        .flatMap(({ commandId, media, stop }) => [
          ...(media === null ? [] : [{ commandId, media }]),
          ...(stop === null ? [] : [stop])
        ])
        .reduce((open, { commandId, media }) => tell(open, leg, commandId, media), builder),
    /** Handles the items whose commands may not have reached the leg and cannot be repeated. */
    restarted: (builder: StepBuilder.StepBuilder, leg: Leg, context: StepContext): StepBuilder.StepBuilder => {
      const dropped = bound(builder.state, leg.id).reduce((open, item) => {
        const { restarted } = familyOf(item)
        if (restarted === "kept") return open
        return "turn" in restarted
          ? turn(open, item, restarted.turn(item, context.now), context.now, context)
          : finish(open, item, restarted.ending(item), context.now)
      }, builder)
      return [...families.values()].reduce(
        (open, { restarted }, index) =>
          restarted === "kept" || "turn" in restarted || restarted.quiet === null
            ? open
            : tell(open, leg, StepBuilder.commandId(context, index), restarted.quiet),
        dropped
      )
    },
    /** The deadlines, each with its leg. */
    dues: (state: CallState): ReadonlyArray<{ readonly at: number; readonly legId: Id.LegId }> =>
      dues(state).map(({ at, item }) => ({ at, legId: item.legId })),
    /** Applies the deadlines of the leg up to `now`. */
    due: (
      builder: StepBuilder.StepBuilder,
      legId: Id.LegId | null,
      now: number,
      context: StepContext
    ): StepBuilder.StepBuilder =>
      dues(builder.state).reduce(
        (open, due) =>
          due.at > now || due.item.legId !== legId ? open : turn(open, due.item, due.turn(now), now, context),
        builder
      )
  }
}
