import { type Outcome, rejected, type StepContext, unchanged } from "../../../runtime/actor/Machine.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import type { MediaCommand, MediaEnded } from "../../../ports/media/MediaMessage.ts"
import * as Draft from "./Draft.ts"
import { type CallState, isTerminal } from "./CallState.ts"
import type { Leg } from "./leg/Leg.ts"
import * as Meter from "./Meter.ts"
import type { Begun, Ending, Family, Item, Moment, Occasion, Progress, Turn } from "../verb/Family.ts"
import { familiesOf, type Row, type Rows } from "../verb/Verbs.ts"

/**
 * Work of the tenant on a call: items of the families. Each begins once and ends once, whatever happens first.
 *
 * An item is bound to its leg, in `work`, and ends with it. Or it outlives its leg, as a recording that is still being
 * stored does; then it is kept in `outliving` until its outcome comes or its time is up, and the call is not settled
 * before.
 */
type Result = Draft.Draft | Outcome<never, never>

export type Work = ReturnType<typeof make>

/** The indexes are above those of the other commands of a step. */
const nextCommandId = (draft: Draft.Draft, context: StepContext): Id.CommandId =>
  Draft.commandId(context, 200 + draft.commands.length)

/** Makes the work rules for a table of verbs. */
export const make = (verbs: Rows) => {
  const families = new Map(familiesOf(verbs).map((family) => [family.name, family]))

  const familyOf = (item: Item): Family => {
    const family = families.get(item.type)
    if (family === undefined) throw new Error(`there is no family of verbs named ${item.type}`)
    return family
  }

  const finish = (draft: Draft.Draft, item: Item, ending: Ending, at: number): Draft.Draft => {
    const { state } = draft
    const others = Draft.set(draft, {
      work: state.work.filter((other) => other !== item),
      outliving: state.outliving.filter((other) => other.item !== item),
      meters: Meter.workEnded(state.meters, item.id, at)
    })
    return say(others, item, ending, at)
  }

  const say = (draft: Draft.Draft, item: Item, ending: Ending, at: number): Draft.Draft => {
    if (ending === null) return draft
    const { state } = draft
    const told = ending(Draft.ids(state, item.legId), at, state)
    return "type" in told ? Draft.emit(draft, told) : Draft.write(Draft.emit(draft, ...told.events), told.rows)
  }

  /** Applies the reaction of an item: it continues or has ended, emits events, and sends commands. */
  const turn = (
    draft: Draft.Draft,
    item: Item,
    { asks, isFree, item: next, leaves = false, media = [], tells }: Turn<Item>,
    at: number,
    context: StepContext
  ): Draft.Draft => {
    const leg = draft.state.legs.find(({ id }) => id === item.legId)
    const commandId = nextCommandId(draft, context)
    const kept = next === null || asks === undefined ? next : { ...next, commandId, media: asks }
    const told =
      kept === null
        ? finish(draft, item, tells, at)
        : say(leaves ? leave(replace(draft, item, kept), kept, at) : replace(draft, item, kept), item, tells, at)
    const charged =
      isFree === undefined ? told : Draft.set(told, { meters: Meter.paused(told.state.meters, item.id, isFree, at) })
    if (leg === undefined) return charged
    const asked = asks === undefined ? charged : tell(charged, leg, commandId, asks)
    return media.reduce((open, command) => tell(open, leg, nextCommandId(open, context), command), asked)
  }

  const replace = (draft: Draft.Draft, item: Item, by: Item): Draft.Draft =>
    by === item
      ? draft
      : Draft.set(draft, {
          work: draft.state.work.map((other) => (other === item ? by : other)),
          outliving: draft.state.outliving.map((other) => (other.item === item ? { ...other, item: by } : other))
        })

  /** Moves an item to those that outlive their leg; it may have been moved before. */
  const leave = (draft: Draft.Draft, item: Item, at: number): Draft.Draft => {
    const { legEnded } = familyOf(item)
    const { state } = draft
    return "ending" in legEnded || !state.work.includes(item)
      ? draft
      : Draft.set(draft, {
          work: state.work.filter((other) => other !== item),
          outliving: [...state.outliving, { item, until: at + legEnded.outlivesMs }],
          meters: Meter.workEnded(state.meters, item.id, at)
        })
  }

  const tell = (draft: Draft.Draft, leg: Leg, commandId: Id.CommandId, media: MediaCommand): Draft.Draft =>
    Draft.send(draft, {
      type: "media",
      commandId,
      callId: draft.state.id,
      legId: leg.id,
      tenantId: draft.state.tenantId,
      media
    })

  /** `reservedMinutes` are those of the item's meter; 0 where nothing had to be reserved. */
  const begin = (draft: Draft.Draft, leg: Leg, item: Item, at: number, reservedMinutes: number): Draft.Draft => {
    const { meter } = familyOf(item)
    const { state } = draft
    const begun = Draft.set(draft, {
      work: [...state.work, item],
      ...(meter === undefined
        ? {}
        : {
            meters: Meter.begun(
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
    const told = say(begun, item, familyOf(item).begun?.(item) ?? null, at)
    return item.media === null ? told : tell(told, leg, item.commandId, item.media)
  }

  const itemOf = (family: Family, leg: Leg, commandId: Id.CommandId, item: Begun<Item>): Item => ({
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

  const running = (state: CallState, family: Family | null): ReadonlyArray<Item> =>
    state.work.filter((item) => item.type === family?.name)

  const act = (
    draft: Draft.Draft,
    leg: Leg,
    row: Row,
    body: unknown,
    context: StepContext,
    reservedMinutes: number
  ): Result => {
    const { family } = row
    if (family === null || row.act === undefined) return unchanged
    const commandId = Draft.commandId(context)
    const act = row.act(momentOf(draft.state, leg, context, commandId), body)
    switch (act.type) {
      case "refuse":
        return rejected(act.error)
      case "begin":
        if (running(draft.state, family).length >= family.limit)
          return rejected(ApiError.of(family.fullCode ?? "conflict", family.full))
        if (family.meter !== undefined && draft.state.meters.length >= Meter.most)
          return rejected(ApiError.of("conflict", `this call has begun as much paid work as a call may`))
        return begin(draft, leg, itemOf(family, leg, commandId, act.item), context.now, reservedMinutes)
      case "stop": {
        const { media, none, which } = act
        const items = running(draft.state, family).filter(
          (item) => item.legId === leg.id && (act.only === undefined || act.only(item))
        )
        if (none !== undefined && items.length === 0) return rejected(none)
        const marked = (which === "all" ? items : items.slice(0, 1)).reduce(
          (open, item) => replace(open, item, { ...item, stop: { commandId, media } }),
          draft
        )
        return tell(marked, leg, commandId, media)
      }
      case "end":
        return running(draft.state, family)
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
            draft
          )
      case "change": {
        const item = running(draft.state, family).find(({ legId }) => legId === leg.id)
        if (item === undefined) return rejected(act.none)
        const changed = act.change(item)
        return "code" in changed ? rejected(changed) : turn(draft, item, changed, context.now, context)
      }
    }
  }

  /** An item whose family sends no command gets no end from the media. */
  const ended = (
    draft: Draft.Draft,
    item: Item | undefined,
    end: Pick<MediaEnded, "status" | "reason">,
    at: number,
    context: StepContext
  ): Result => {
    if (item === undefined) return unchanged
    const family = familyOf(item)
    const { sound } = family
    if (sound !== undefined)
      return sound.idOf(item) === null ? unchanged : turn(draft, item, sound.ended(item, end, at), at, context)
    if (family.told === undefined) return unchanged
    const isFree = end.status === "failed" && family.meter?.isFreeWhenFailed === true && !isTerminal(draft.state)
    const open = isFree ? Draft.set(draft, { meters: Meter.voided(draft.state.meters, item.id) }) : draft
    return finish(open, item, family.told(item, end), at)
  }

  /** Whether the id of a media event is that of this item, or of its sound. */
  const isOf = (id: Id.WorkId) => (item: Item) => (familyOf(item).sound?.idOf(item) ?? item.id) === id

  const everything = ({ outliving, work }: CallState) => [...work, ...outliving.map(({ item }) => item)]

  /** Items that receive digits are closed before those that make sound. */
  const bound = (state: CallState, legId: Id.LegId) =>
    state.work
      .filter((item) => item.legId === legId)
      .toSorted((a, b) => Number(familyOf(b).digit !== undefined) - Number(familyOf(a).digit !== undefined))

  /** All deadlines of the work. */
  const dues = (
    state: CallState
  ): ReadonlyArray<{ readonly at: number; readonly item: Item; readonly turn: (now: number) => Turn<Item> }> => [
    ...state.work.flatMap((item) => {
      const { deadline } = familyOf(item)
      if (deadline === undefined) return []
      const due = (now: number): Turn<Item> =>
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
    told: (draft: Draft.Draft, end: MediaEnded, at: number, context: StepContext): Result =>
      ended(draft, everything(draft.state).find(isOf(end.id)), end, at, context),
    /** Handles a command of an item that the carrier could not carry out, perhaps because its leg had ended by then. */
    refused: (draft: Draft.Draft, commandId: Id.CommandId, reason: string, at: number, context: StepContext): Result =>
      ended(
        draft,
        everything(draft.state).find((item) => item.commandId === commandId),
        { status: "failed", reason },
        at,
        context
      ),
    /** Gives a digit to every item on the leg that receives digits. */
    digit: (draft: Draft.Draft, leg: Leg, digit: string, at: number, context: StepContext): Draft.Draft =>
      draft.state.work.reduce((open, item) => {
        const heard = item.legId === leg.id ? familyOf(item).digit?.(item, digit, at) : undefined
        return heard === undefined ? open : turn(open, item, heard, at, context)
      }, draft),
    /** Handles a media report about an item before its end, even about one that outlived its leg. */
    heard: (draft: Draft.Draft, event: Progress, at: number, context: StepContext): Result => {
      const item = everything(draft.state).find(({ id }) => id === event.id)
      const heard = item === undefined ? undefined : familyOf(item).heard?.(item, event, at)
      return item === undefined || heard === undefined ? unchanged : turn(draft, item, heard, at, context)
    },
    /** Begins the work that begins by itself on this occasion. */
    begins: (draft: Draft.Draft, leg: Leg, occasion: Occasion, at: number, context: StepContext): Draft.Draft =>
      [...families.values()].reduce((open, family) => {
        const commandId = nextCommandId(open, context)
        const moment = { ...momentOf(open.state, leg, context, commandId), now: at }
        const item = family.begins?.(open.state.plan, occasion, moment) ?? null
        return item === null || running(open.state, family).length >= family.limit
          ? open
          : begin(open, leg, itemOf(family, leg, commandId, item), at, 0)
      }, draft),
    /** Ends the items that are bound to the leg, and sets those apart that outlive it. */
    legEnded: (draft: Draft.Draft, legId: Id.LegId, at: number): Draft.Draft =>
      bound(draft.state, legId).reduce((open, item) => {
        const { legEnded } = familyOf(item)
        return "ending" in legEnded ? finish(open, item, legEnded.ending(item), at) : leave(open, item, at)
      }, draft),
    /** Repeats, under the same ids, the commands that may not have reached the leg. */
    resend: (draft: Draft.Draft, leg: Leg): Draft.Draft =>
      draft.state.work
        .filter(({ legId }) => legId === leg.id)
        .flatMap(({ commandId, media, stop }) => [
          ...(media === null ? [] : [{ commandId, media }]),
          ...(stop === null ? [] : [stop])
        ])
        .reduce((open, { commandId, media }) => tell(open, leg, commandId, media), draft),
    /** Handles the items whose commands may not have reached the leg and cannot be repeated. */
    restarted: (draft: Draft.Draft, leg: Leg, context: StepContext): Draft.Draft => {
      const dropped = bound(draft.state, leg.id).reduce((open, item) => {
        const { restarted } = familyOf(item)
        if (restarted === "kept") return open
        return "turn" in restarted
          ? turn(open, item, restarted.turn(item, context.now), context.now, context)
          : finish(open, item, restarted.ending(item), context.now)
      }, draft)
      return [...families.values()].reduce(
        (open, { restarted }, index) =>
          restarted === "kept" || "turn" in restarted || restarted.quiet === null
            ? open
            : tell(open, leg, Draft.commandId(context, index), restarted.quiet),
        dropped
      )
    },
    /** The deadlines, each with its leg. */
    dues: (state: CallState): ReadonlyArray<{ readonly at: number; readonly legId: Id.LegId }> =>
      dues(state).map(({ at, item }) => ({ at, legId: item.legId })),
    /** Applies the deadlines of the leg up to `now`. */
    due: (draft: Draft.Draft, legId: Id.LegId | null, now: number, context: StepContext): Draft.Draft =>
      dues(draft.state).reduce(
        (open, due) =>
          due.at > now || due.item.legId !== legId ? open : turn(open, due.item, due.turn(now), now, context),
        draft
      )
  }
}
