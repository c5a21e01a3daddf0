import { Schema } from "effect"
import type { ApiError } from "../../../domain/ApiError.ts"
import type { Code } from "../../../domain/ErrorCatalogue.ts"
import { type CallId, CommandId, LegId, type TenantId, WorkId } from "../../../domain/Id.ts"
import type { EmittedByCall } from "../../../domain/event/EventCatalogue.ts"
import { MediaCommand, type MediaEnded, type MediaEvent } from "../../../ports/media/MediaMessage.ts"
import type { ListWrite } from "../../../runtime/store/list/ListTable.ts"
import type { Kind, Meters } from "../machine/Meter.ts"
import type { CallSetup } from "../machine/CallSetup.ts"
import type { Body, Verb } from "../../verb/Verb.ts"
import type { When } from "./CallVerb.ts"

/**
 * A family of verbs: work that runs for a while on a leg, kept as an item in the call's state, and the verbs that begin
 * and end it. One file holds everything about a family; the machine knows only the rules below.
 *
 * Every item that begins ends exactly once, in one of the ways below, and each way names the event that reports it.
 */
const item = {
  id: WorkId,
  /** The id of the command that was sent for it. */
  commandId: CommandId,
  legId: LegId,
  /** The command itself; `null`: the family needs nothing from the carrier. */
  media: Schema.NullOr(MediaCommand),
  /** The command that was sent to stop it. The item ends when the media plane has carried it out. */
  stop: Schema.NullOr(Schema.Struct({ commandId: CommandId, media: MediaCommand }))
}

/** An item of any family: `type` names it. Plain JSON. */
export interface Activity {
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

/** Facts about the call that rows of lists need. */
interface OfCall {
  readonly tenantId: TenantId
  readonly from: string
  readonly to: string
  /** The meters as of this commit. */
  readonly meters: Meters
}

/** Public events in order, and the rows of lists that the same commit writes. */
interface Tidings {
  readonly events: ReadonlyArray<EmittedByCall>
  readonly rows: ReadonlyArray<ListWrite>
}

/** Makes the report of an end: mostly one event; `at`: epoch milliseconds. Null: there is no report. */
export type Ending = ((of: OfLeg, at: number, call: OfCall) => EmittedByCall | Tidings) | null

/** The reaction of an item to an input. */
export interface Turn<I extends Activity> {
  /** The item from now on; null: it has ended. */
  readonly item: I | null
  /** The report, whether the item continues or has ended. */
  readonly tells: Ending
  /** The commands for its leg. */
  readonly media?: ReadonlyArray<MediaCommand>
  /** Its part on the leg is over: it costs nothing more, and waits for its outcome as if its leg had ended. */
  readonly leaves?: boolean
  /** Whether it is free from now on; absent: no change. */
  readonly isFree?: boolean
  /** A command that becomes the item's own from now on: the one that its `media` holds. */
  readonly asks?: MediaCommand
}

/**
 * A moment in the life of the call's own leg at which work may begin by itself. `answering`: an inbound leg is asked to
 * answer; its media begin as soon as there is sound.
 */
export type Occasion = "ringing" | "answering" | "answered"

/** The parts of a step that its verb may use. */
export interface Moment {
  readonly now: number
  readonly commandId: CommandId
  /** Makes a unique id, which is the same when the journal is replayed. */
  readonly derive: (kind: string) => WorkId
  readonly plan: CallSetup
  /** Whether the leg is bridged with another one. */
  readonly isBridged: boolean
  /** The call and the leg, for verbs that pass them on. */
  readonly of: {
    readonly tenantId: TenantId
    readonly callId: CallId
    readonly legId: LegId
    readonly from: string
    readonly to: string
  }
}

/** An item as its family begins it; the machine adds the other fields. */
export type Started<I extends Activity> = Omit<I, "type" | "commandId" | "legId" | "stop">

/** The media plane's reports on running work. */
export type Progress = Extract<MediaEvent, { readonly id: WorkId }>

/** The effect of a verb. Methods are compared bivariantly: for the machine, a family of one item is one of any item. */
export type Act<I extends Activity> =
  | { readonly type: "begin"; readonly item: Started<I> }
  | { readonly type: "refuse"; readonly error: ApiError }
  /**
   * Tells the media plane to stop the first item of the family on the leg, or all: each reports its own end. `only`:
   * stops those that it allows; when there are none, the verb is refused with `none`.
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
  /** Changes the first item of the family on the leg; without one the verb is refused with `none`. */
  | { readonly type: "change"; readonly none: ApiError; change(item: I): Turn<I> | ApiError }

interface Rules<I extends Activity> {
  /** The most items at once on a call; the next one is refused with `full`, as `fullCode` or as a conflict. */
  readonly limit: number
  readonly full: string
  readonly fullCode?: Code
  /** The report of its beginning. */
  started?(item: I): Ending
  /** The report when the media plane, or a carrier that cannot reach it, ends the item. Absent without a command. */
  told?(item: I, end: Pick<MediaEnded, "status" | "reason">): Ending
  /**
   * A separate sound of an item on the leg, under an id that is not the item's; null: none now. `ended`: the media
   * plane, or the carrier, reports its end.
   */
  readonly sound?: {
    idOf(item: I): WorkId | null
    ended(item: I, end: Pick<MediaEnded, "status" | "reason">, at: number): Turn<I>
  }
  /** The reaction of an item to a digit. Every digit is reported with `call.dtmf` in any case. */
  digit?(item: I, digit: string, at: number): Turn<I>
  /** The reaction of an item to a media report before its end. */
  heard?(item: I, event: Progress, at: number): Turn<I>
  /** The item that begins by itself on this occasion, by the call's plan; null: none. */
  starts?(plan: CallSetup, occasion: Occasion, moment: Moment): Started<I> | null
  /**
   * The price of an item, from its beginning to its end: by the minute, or once. The operator sets it, and its amount
   * is reserved like the minutes of a leg.
   */
  readonly meter?: {
    readonly kind: Exclude<Kind, "leg">
    readonly per: "minute" | "item"
    /** It is free when its media fail while the call lives; the cost of an ended call never changes. */
    readonly isFreeWhenFailed?: boolean
  }
  /** The moment `at` at which the item ends by itself, or reacts, if nothing else ends it. */
  readonly deadline?: { at(item: I): number } & ({ ending(item: I): Ending } | { due(item: I, at: number): Turn<I> })
  /**
   * When its leg or the call ends, the item ends with it; or it outlives it for at most `outlivesMs`, and waits for its
   * outcome.
   */
  readonly legEnded: { ending(item: I): Ending } | { readonly outlivesMs: number; expired(item: I): Ending }
  /**
   * When a command may not have reached the leg: the item is kept as it is, or reacts, or it ends and the leg gets the
   * command `quiet`.
   */
  readonly restarted:
    | "kept"
    | { turn(item: I, at: number): Turn<I> }
    | { ending(item: I): Ending; readonly quiet: MediaCommand | null }
}

export interface ActionKind<I extends Activity = Activity> extends Rules<I> {
  readonly name: string
  readonly schema: Schema.Top
}

/** An item of the family `Name` with these fields. */
type ItemOf<Name extends string, Fields extends Schema.Struct.Fields> = Activity & {
  readonly type: Name
} & Schema.Struct<Fields>["Type"]

export const make = <const Name extends string, Fields extends Schema.Struct.Fields>(
  name: Name,
  fields: Fields,
  rules: Rules<ItemOf<Name, Fields>>
) => {
  const family: ActionKind<ItemOf<Name, Fields>> = {
    ...rules,
    name,
    schema: Schema.Struct({ type: Schema.tag(name), ...item, ...fields })
  }
  return {
    ...family,
    /** A verb of this family. */
    verb: <S extends Body>(
      verb: Verb<S, When> & { act(moment: Moment, body: S["Type"]): Act<ItemOf<Name, Fields>> }
    ) => ({ ...verb, family })
  }
}
