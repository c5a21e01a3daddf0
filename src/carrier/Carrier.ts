import { Context, Effect, Layer } from "effect"
import type { MediaCommand } from "../media/message/MediaMessage.ts"
import type { CarrierEvent, LegPresence } from "./CarrierEvent.ts"

export type { CarrierEvent, LegEnd, LegPresence, LegReport } from "./CarrierEvent.ts"

/**
 * The carrier port: commands go down once, their outcomes come back as events.
 *
 * An adapter knows legs, never calls' rules. It acts on a command without waiting for the network, and reports every
 * outcome through `CarrierSink`. What a peer would send again (a 200, a BYE, a final answer) it acknowledges only
 * after the sink's effect has completed, because only then is the event committed.
 */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** Why a leg is refused or ended from our side; an adapter turns it into its own words (SIP: a status). */
export type RejectCause = "user_busy" | "rejected" | "no_answer" | "not_found" | "error"

/** What an adapter needs to find a dial again whose process died: its identity is derived from `dialId`. */
export interface DialOrigin {
  readonly dialId: string
  readonly routeId: string
  readonly from: string
  readonly to: string
}

interface OfLeg {
  /** Identity of this command; outcomes name it. */
  readonly commandId: string
  readonly callId: string
  readonly legId: string
}

export type CarrierCommand =
  | (OfLeg & {
      readonly type: "dial"
      readonly tenantId: string
      readonly routeId: string
      readonly from: string
      readonly to: string
    })
  /** Answers an inbound leg; outcome: `answered`, or `command_failed` and `ended`. */
  | (OfLeg & { readonly type: "answer" })
  /** Alerts an inbound leg (SIP 180); no outcome. */
  | (OfLeg & { readonly type: "ring" })
  /** Refuses an inbound leg; outcome: `ended`. `resume` as in `hangup`. */
  | (OfLeg & { readonly type: "reject"; readonly cause: RejectCause; readonly resume: Json })
  /**
   * Ends the leg whatever its state (CANCEL, BYE, or a final answer); idempotent; outcome: exactly one `ended`, also
   * for a leg that this process never knew: then `resume` (a dialog) or `origin` (a dial) says what to end.
   */
  | (OfLeg & { readonly type: "hangup"; readonly origin: DialOrigin | null; readonly resume: Json })
  /** Hands `media` to the media of the leg. Outcomes: what that tells, or `command_failed` for a leg without media. */
  | (OfLeg & { readonly type: "media"; readonly media: MediaCommand })

/** An inbound leg that waits for admission. `resume` must suffice to refuse it after a restart. */
export interface InboundOffer {
  readonly legId: string
  readonly at: number
  readonly adapter: string
  /** Routes whose peer this came from; empty: the adapter has only one. */
  readonly routeIds: ReadonlyArray<string>
  readonly from: string
  readonly to: string
  readonly resume: Json
}

export type Admission =
  | { readonly admitted: true; readonly callId: string }
  | { readonly admitted: false; readonly cause: RejectCause | "unavailable" }

/** One adapter, or all of them behind their routes (`Carriers`). */
export interface CarrierAdapter {
  /** Hands the command over; never waits for the network and never fails: an outcome is an event. */
  readonly interpret: (command: CarrierCommand) => Effect.Effect<void>
  readonly presence: (legId: string) => Effect.Effect<LegPresence>
}

/**
 * Commands of a call, to the adapter that its route names.
 *
 * An adapter registers when it is up. A command for one that is not there dies (a route cannot name it: routes are
 * checked when they are added); legs that an earlier process left there are gone.
 */
export class Carrier extends Context.Service<
  Carrier,
  {
    readonly register: (adapter: string, implementation: CarrierAdapter) => Effect.Effect<void>
    readonly interpret: (adapter: string, command: CarrierCommand) => Effect.Effect<void>
    readonly presence: (adapter: string, legId: string) => Effect.Effect<LegPresence>
  }
>()("trunkline/carrier/Carrier") {
  static readonly layer = Layer.sync(Carrier, () => {
    const adapters = new Map<string, CarrierAdapter>()
    const named = (name: string) => {
      const adapter = adapters.get(name)
      return adapter === undefined ? Effect.die(new Error(`no carrier adapter named ${name}`)) : Effect.succeed(adapter)
    }
    return Carrier.of({
      register: (name, adapter) => Effect.sync(() => void adapters.set(name, adapter)),
      interpret: (name, command) => Effect.flatMap(named(name), (adapter) => adapter.interpret(command)),
      presence: (name, legId) => Effect.suspend(() => adapters.get(name)?.presence(legId) ?? Effect.succeed("gone"))
    })
  })
}

/** Events of every adapter, to the calls that own the legs. */
export class CarrierSink extends Context.Service<
  CarrierSink,
  {
    /** Completes when the call's first state is committed (or refused, uncommitted). */
    readonly offer: (offer: InboundOffer) => Effect.Effect<Admission>
    /** Completes when the event is committed, or was found late and dropped. Events of one leg keep their order. */
    readonly tell: (callId: string, event: CarrierEvent) => Effect.Effect<void>
  }
>()("trunkline/carrier/CarrierSink") {}

/** A SIP peer that a route stands for. */
export interface SipTrunk {
  readonly routeId: string
  readonly host: string
  readonly port: number
  readonly username: string | null
  readonly password: string | null
}

/** Routes as an adapter may see them (the connection feature answers). */
export class RouteDirectory extends Context.Service<
  RouteDirectory,
  {
    readonly sipTrunk: (routeId: string) => Effect.Effect<SipTrunk | null>
    /** Every trunk at this address (any port): who may send us calls. */
    readonly sipTrunksAt: (address: string) => Effect.Effect<ReadonlyArray<SipTrunk>>
  }
>()("trunkline/carrier/RouteDirectory") {}
