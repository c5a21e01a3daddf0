import { Schema } from "effect"
import type { ApiError } from "../../../domain/ApiError.ts"
import type { Code } from "../../../domain/ErrorCatalogue.ts"
import { type CallId, CommandId, LegId, type TenantId, WorkId } from "../../../domain/Id.ts"
import type { EmittedByCall } from "../../../domain/event/EventCatalogue.ts"
import { MediaCommand, type MediaEnded, type MediaEvent } from "../../../ports/media/MediaMessage.ts"
import type { ListWrite } from "../../../runtime/store/list/ListTable.ts"
import type { Kind, Meters } from "../machine/Meter.ts"
import type { Plan } from "../machine/Plan.ts"
import type { Body, Recognizing, Speaking, When } from "./Verb.ts"

/**
 * A family of verbs: work that goes on for a while on a leg, kept as an item in the call's state, and the verbs that
 * begin and end it. One file holds everything about it; the machine knows of a family only what stands here.
 *
 * Every item that begins ends exactly once, in one of the ways below, and each way names the event that tells it.
 */
const item = {
  id: WorkId,
  /** Of the command that went down for it. */
  commandId: CommandId,
  legId: LegId,
  /** That command; `null`: the family needs nothing of the carrier, or an earlier version did not keep it. */
  media: Schema.NullOr(MediaCommand),
  /** The command that was sent since to stop it. The item ends when the media have carried it out. */
  stop: Schema.NullOr(Schema.Struct({ commandId: CommandId, media: MediaCommand }))
}

/** An item of any family: `type` names it. Plain JSON. */
export interface Item {
  readonly type: string
  readonly id: WorkId
  readonly commandId: CommandId
  readonly legId: LegId
  readonly media: MediaCommand | null
  readonly stop: { readonly commandId: CommandId; readonly media: MediaCommand } | null
}

/** The ids that every event of a leg repeats. */
interface OfLeg {
  readonly callId: CallId
  readonly legId: LegId
  readonly customerReference: string | null
}

/** What the rows of lists need to know of the call besides. */
interface OfCall {
  readonly tenantId: TenantId
  readonly from: string
  readonly to: string
  /** With this commit. */
  readonly meters: Meters
}

/** Public events, in their order, and the rows of lists that the same commit writes. */
export interface Tidings {
  readonly events: ReadonlyArray<EmittedByCall>
  readonly rows: ReadonlyArray<ListWrite>
}

/** Makes what tells an end: mostly one event; `at`: epoch milliseconds. Null: nobody is told. */
export type Ending = ((of: OfLeg, at: number, call: OfCall) => EmittedByCall | Tidings) | null

/** What becomes of an item that heard of something. */
export interface Turn<I extends Item> {
  /** As it goes on; null: it has ended. */
  readonly item: I | null
  /** What is told, whether it goes on or has ended. */
  readonly tells: Ending
  /** What its leg is sent. */
  readonly media?: ReadonlyArray<MediaCommand>
  /** Its part on the leg is over: it costs nothing more, and waits for its outcome as if its leg had ended. */
  readonly leaves?: boolean
  /** From now on, or no longer, it costs nothing. */
  readonly isFree?: boolean
  /** The same, but it is the command of the item from now on: the one that `media` of an item names. */
  readonly asks?: MediaCommand
}

/**
 * A moment in the life of the call's own leg, at which work may begin by itself. `answering`: an inbound leg is asked to
 * answer; its media are there as soon as it can be heard.
 */
export type Occasion = "ringing" | "answering" | "answered"

/** What a verb may use of the step that it is part of. */
export interface Moment {
  readonly now: number
  readonly commandId: CommandId
  /** An id that nobody else has; the same when the journal is replayed. */
  readonly derive: (kind: string) => WorkId
  readonly plan: Plan
  /** Whether the leg is bridged with another one. */
  readonly isBridged: boolean
  /** The call and the leg, for whoever tells others of them. */
  readonly of: {
    readonly tenantId: TenantId
    readonly callId: CallId
    readonly legId: LegId
    readonly from: string
    readonly to: string
  }
}

/** An item as its family begins it; the machine knows the rest. */
export type Begun<I extends Item> = Omit<I, "type" | "commandId" | "legId" | "stop">

/** What the media tell of work that goes on. */
export type Progress = Extract<MediaEvent, { readonly id: WorkId }>

/** What a verb does. Methods are compared bivariantly: a family of one kind of item is one of any item to the machine. */
export type Act<I extends Item> =
  | { readonly type: "begin"; readonly item: Begun<I> }
  | { readonly type: "refuse"; readonly error: ApiError }
  /**
   * Tells the media to stop the first item of the family on the leg, or all: each tells its own end. `only`: of those
   * that it allows; without any, the verb is refused as `none` says.
   */
  | {
      readonly type: "stop"
      readonly which: "first" | "all"
      readonly media: MediaCommand
      only?(item: I): boolean
      readonly none?: ApiError
    }
  /** Ends every item of the family on the leg. */
  | { readonly type: "end"; ending(item: I): Ending; media?(item: I): ReadonlyArray<MediaCommand> }
  /** Changes the first item of the family on the leg; without one the verb is refused as `none` says. */
  | { readonly type: "change"; readonly none: ApiError; change(item: I): Turn<I> | ApiError }

interface Rules<I extends Item> {
  /** Items at once on a call; the next one is refused with `full`, as `fullCode` or as a conflict. */
  readonly limit: number
  readonly full: string
  readonly fullCode?: Code
  /** What its begin tells. */
  begun?(item: I): Ending
  /** The media, or the carrier that could not reach them, told the end. Absent where no command goes down. */
  told?(item: I, end: Pick<MediaEnded, "status" | "reason">): Ending
  /**
   * A sound of its own that an item has on the leg, by an id that is not the item's; null: none now. `ended`: the media,
   * or the carrier, told its end.
   */
  readonly sound?: {
    idOf(item: I): WorkId | null
    ended(item: I, end: Pick<MediaEnded, "status" | "reason">, at: number): Turn<I>
  }
  /** What becomes of an item that hears digits. Every digit is told with `call.dtmf` all the same. */
  digit?(item: I, digit: string, at: number): Turn<I>
  /** What becomes of an item when its media tell something before its end. */
  heard?(item: I, event: Progress, at: number): Turn<I>
  /** What begins by itself at this moment, as the call was asked for; null: nothing. */
  begins?(plan: Plan, occasion: Occasion, moment: Moment): Begun<I> | null
  /**
   * What an item costs, from its begin to its end: by the minute, or once. The price is the operator's, and what it comes
   * to is reserved like the minutes of a leg.
   */
  readonly meter?: {
    readonly kind: Exclude<Kind, "leg">
    readonly per: "minute" | "item"
    /** It costs nothing when its media fail while the call lives; what a call has cost is not changed any more. */
    readonly isFreeWhenFailed?: boolean
  }
  /** At the moment `at` the item ends by itself, or takes a turn, if nothing else ends it. */
  readonly deadline?: { at(item: I): number } & ({ ending(item: I): Ending } | { due(item: I, at: number): Turn<I> })
  /**
   * When its leg or the call ends, the item ends with it; or it outlives it for at most so long, and waits for its
   * outcome.
   */
  readonly legEnded: { ending(item: I): Ending } | { readonly outlivesMs: number; expired(item: I): Ending }
  /**
   * When the leg may not have got what was asked: the item is kept as it is, or takes a turn, or it ends and the leg is
   * told `quiet`.
   */
  readonly restarted:
    | "kept"
    | { turn(item: I, at: number): Turn<I> }
    | { ending(item: I): Ending; readonly quiet: MediaCommand | null }
}

export interface Family<I extends Item = Item> extends Rules<I> {
  readonly name: string
  readonly schema: Schema.Top
}

/** An item of the family `Name` with these fields. */
type ItemOf<Name extends string, Fields extends Schema.Struct.Fields> = Item & {
  readonly type: Name
} & Schema.Struct<Fields>["Type"]

export const make = <const Name extends string, Fields extends Schema.Struct.Fields>(
  name: Name,
  fields: Fields,
  rules: Rules<ItemOf<Name, Fields>>
) => {
  const family: Family<ItemOf<Name, Fields>> = {
    ...rules,
    name,
    schema: Schema.Struct({ type: Schema.tag(name), ...item, ...fields })
  }
  return {
    ...family,
    /** A verb of this family. */
    verb: <S extends Body>(verb: {
      readonly summary: string
      readonly when: When
      readonly body: S
      targets?(body: S["Type"]): Readonly<Record<string, string>>
      sockets?(body: S["Type"]): Readonly<Record<string, string>>
      speaks?(body: S["Type"]): Speaking
      recognizes?(body: S["Type"]): Recognizing
      readonly errors?: ReadonlyArray<Code>
      act(moment: Moment, body: S["Type"]): Act<ItemOf<Name, Fields>>
    }) => ({ ...verb, family })
  }
}
