/**
 * The life of a leg, whichever side placed it: its events in order, its media, and exactly one end.
 */
import { Result } from "effect"
import type { CallId, CommandId, LegId, RouteId } from "../../../domain/Id.ts"
import { isAttended, type MediaCommand } from "../../../ports/media/MediaMessage.ts"
import type { Listener, Loss, Quality } from "../../../media/plane/MediaPlane.ts"
import type { CarrierCommand, LegEnd, LegFacts, LegReport, Told } from "../../Carrier.ts"
import type * as SdpOffer from "../../../protocol/sip/sdp/SdpOffer.ts"
import * as SipUri from "../../../protocol/sip/message/header/SipUri.ts"
import * as EarlyMedia from "../../EarlyMedia.ts"
import * as TrunkStates from "../../peer/TrunkStates.ts"
import { type Context, ignore, type Leg, releaseLimitMs } from "../Context.ts"
import * as CustomHeaders from "../CustomHeaders.ts"
import * as EndQuality from "./EndQuality.ts"
import * as LegMedia from "./LegMedia.ts"
import * as LegEvents from "./LegEvents.ts"

export interface LegLifecycle {
  readonly legId: LegId
  readonly media: LegMedia.LegMedia
  /** Points the media at the peer, which has not answered yet if `isEarly`. */
  readonly connect: (terms: SdpOffer.Agreed, isEarly: boolean) => void
  /** A call owns the leg; the events that waited are reported. */
  readonly admitted: (callId: CallId) => void
  /** The leg's call uses this route. */
  readonly routed: (routeId: RouteId) => void
  /** No call will ever own the leg: it is forgotten, and its events are `unknown`. */
  readonly refused: () => void
  /**
   * Reports an event of the signalling, after the admission. Until then at most `maxWaiting` events wait, besides the
   * end. A digit that the peer's packets have brought, too, is not reported again, and counts as committed.
   */
  readonly tell: (news: LegReport, done?: (told: Told) => void) => void
  /**
   * Ends the leg: its media stops, and it is forgotten when the event is settled. Only the first end counts; every
   * `done` is called when that one is settled.
   */
  readonly end: (end: LegEnd, done?: (told: Told) => void) => void
  /**
   * The leg has left and waits for its peer: its sound ends now (RFC 3261 section 15.1.1). An end by itself is reported
   * at once, because the peer may never answer; one by command only when the answer takes `answerPatienceMs`.
   */
  readonly leave: (end: LegEnd) => void
  /** Ends the leg as `end` after `releaseLimitMs`, unless it has ended before. */
  readonly endSoon: (end: LegEnd) => void
  /** Carries out a command that is the same for legs of both directions. */
  readonly command: (command: Extract<CarrierCommand, { readonly type: Common }>) => void
}

/**
 * How long to wait for the sound quality. The media plane reports it within milliseconds of closing a leg, or never.
 */
const qualityPatienceMs = 250

/** How long the report of a leg that was hung up waits for the peer's answer, so that both are one event. */
const answerPatienceMs = 200

const isUnasked = ({ cause }: LegEnd): boolean => cause === "error" || cause === "timer"

type Common = "media" | "bridge" | "unbridge" | "join_room" | "leave_room" | "refer"

type Dial = Extract<CarrierCommand, { readonly type: "dial" }>

interface Options {
  readonly legId: LegId
  readonly callId: CallId | null
  /** Null until the leg is admitted. */
  readonly routeId: RouteId | null
  /** The dial that placed it; null when the peer did. */
  readonly dial: Dial | null
  /** The address of the peer that placed it; null when we did. */
  readonly source: string | null
  readonly command: Leg["command"]
  readonly perform: Leg["perform"]
  /** The media plane lost the peer. */
  readonly mediaLost: (reason: Loss) => void
  /** No call owns the leg, so it has to end. */
  readonly disowned: () => void
}

/** The outcome at the trunk that the end of an unanswered call shows; null when it shows none. */
const outcomeOf = ({ cause, sipStatus }: LegEnd): TrunkStates.Outcome | null => {
  if (cause === "cancelled") return "cancelled"
  if (cause === "timer") return "none"
  return sipStatus === null ? null : TrunkStates.classOf(sipStatus)
}

const startsEarly = (media: MediaCommand): boolean => isAttended(media) || media.type === "start_stream"

export const make = (context: Context, options: Options): LegLifecycle => {
  const { dial, legId, source } = options
  /** The route by which we placed the leg. */
  const placedBy = source === null ? options.routeId : null
  const { bridges, callers, legs, plane, rooms, run, transactions, steadyMs } = context
  const legEvents = LegEvents.make(context, legId)
  const since = steadyMs()
  /** Null until the leg is admitted. */
  let { callId, routeId } = options
  let isRefused = false
  /** Events that wait for the admission. */
  let untold: Array<() => void> = []
  let answeredAt: number | null = null
  let over = false
  /** It was reported that the leg has left. */
  let isLeaving = false
  /** When its sound ended; null: it has not. */
  let silentAt: number | null = null
  let hadSound = false
  /** The sound quality; undefined until the media plane has reported it. */
  let sound: Quality | null | undefined
  /** Called with the sound quality when it is there. */
  let measured: () => void = ignore
  /** The end waits for the sound quality; `last` is reset when the end is reported. */
  let last: { readonly told: (quality: Quality | null) => void; readonly behind: Array<() => void> } | null = null
  /** The callbacks that wait until the end is settled, and afterwards its outcome. */
  let ending: Array<(told: Told) => void> | Told = []

  const tellAt = (at: number, news: LegReport, done: (told: Told) => void): void => {
    if (callId === null) return done("unknown")
    legEvents.tell(callId, at, news, (told) => {
      done(told)
      if (told === "unknown" && !over) options.disowned()
    })
  }

  const tell: LegLifecycle["tell"] = (news, done = ignore) => {
    const at = transactions.now()
    if (news.type !== "media" || news.event.type !== "dtmf") return tellOf(at, news, done)
    media.press(news.event.digit, (isNew) => (isNew ? tellOf(at, news, done) : done("committed")))
  }

  const tellOf = (at: number, news: LegReport, done: (told: Told) => void): void => {
    isLeaving ||= news.type === "leaving"
    if (news.type === "answered") {
      if (answeredAt === null && placedBy !== null) context.counted(placedBy, "2xx")
      answeredAt ??= steadyMs()
      early?.end()
    }
    if (callId !== null || isRefused) return tellAt(at, news, done)
    if (news.type !== "ended" && untold.length >= LegEvents.maxWaiting) return done("fault")
    untold.push(() => tellAt(at, news, done))
  }

  const tellUntold = (): void => {
    const waiting = untold
    untold = []
    for (const each of waiting) each()
  }

  const heard: Listener = {
    told: (event) => {
      if (silentAt === null && early?.owns(event) !== true) tellOf(transactions.now(), { type: "media", event }, ignore)
    },
    lost: (reason) => {
      if (silentAt === null) options.mediaLost(reason)
    },
    closed: (quality) => {
      context.sounded({ legId, callId, routeId, quality })
      sound = quality
      measured()
      last?.told(quality)
    }
  }

  const media = LegMedia.make({ legId, plane, run, heard, tenantId: dial?.tenantId ?? null, near: dial?.near ?? null })
  const early =
    dial === null
      ? null
      : EarlyMedia.make(dial, (tenantId, command) => run(plane.command(legId, tenantId, command), ignore))

  /** Ends the sound of the leg, once. Returns whether its quality is still to come, or has come. */
  const silence = (): boolean => {
    if (silentAt !== null) return hadSound
    silentAt = transactions.now()
    if (answeredAt !== null) context.soundEnds(legId)
    bridges.ended(legId)
    rooms.ended(legId)
    hadSound = media.close()
    return hadSound
  }

  const leave: LegLifecycle["leave"] = (reason) => {
    if (over || silentAt !== null) return
    const at = transactions.now()
    const hasSound = silence()
    if (answeredAt === null && !isUnasked(reason)) return
    const report = (): void => {
      if (over || isLeaving) return
      const quality = EndQuality.of(sound ?? null)
      tellOf(at, { type: "leaving", ...reason, ...(quality === null ? {} : { quality }) }, ignore)
    }
    const reportMeasured = (): void => {
      if (!hasSound || sound !== undefined) return report()
      measured = report
      transactions.after(qualityPatienceMs, report)
    }
    if (isUnasked(reason)) reportMeasured()
    else transactions.after(answerPatienceMs, reportMeasured)
  }

  const end: LegLifecycle["end"] = (reason, done = ignore) => {
    if (typeof ending === "string") return done(ending)
    ending.push(done)
    if (over) return
    over = true
    const outcome = answeredAt === null ? outcomeOf(reason) : null
    if (placedBy !== null && outcome !== null) context.counted(placedBy, outcome)
    const at = transactions.now()
    const hasSound = silence()
    const behind: Array<() => void> = []
    let disarm = ignore
    const told = (measured: Quality | null): void => {
      if (last === null) return
      last = null
      disarm()
      const quality = EndQuality.of(measured)
      tellOf(at, { type: "ended", ...reason, ...(quality === null ? {} : { quality }) }, through)
      for (const each of behind) legEvents.caughtUp(each)
    }
    last = { told, behind }
    // The plane may report the sound quality at once.
    if (!hasSound || sound !== undefined) told(sound ?? null)
    else disarm = transactions.after(qualityPatienceMs, () => told(null))
  }

  const through = (told: Told): void => {
    forget()
    const waiting = typeof ending === "string" ? [] : ending
    ending = told
    for (const each of waiting) each(told)
  }

  const forget = (): void => {
    if (legs.get(legId) !== leg) return
    legs.delete(legId)
    if (source !== null) callers.giveBack(source)
  }

  const facts = (): LegFacts | null => {
    if (callId === null) return null
    const now = steadyMs()
    return {
      state: over ? "over" : answeredAt === null ? "alerting" : "answered",
      n: context.memory.last(legId),
      ageMs: now - since,
      answeredMs: answeredAt === null ? null : now - answeredAt,
      ...bridges.facts(legId)
    }
  }

  const leg: Leg = {
    command: options.command,
    perform: options.perform,
    facts,
    caughtUp: (then) => (last === null ? legEvents.caughtUp(then) : void last.behind.push(then)),
    isTalking: () => answeredAt !== null && silentAt === null,
    tell: (report) => {
      if (!over) tell(report)
    }
  }
  legs.set(legId, leg)
  if (source !== null) callers.take(source)

  const fail = (commandId: CommandId, reason: string): void => tell({ type: "command_failed", commandId, reason })

  const handOver = ({ media, tenantId }: Extract<CarrierCommand, { readonly type: "media" }>): void =>
    run(plane.command(legId, tenantId, media), ignore)

  const refer = ({ commandId, headers, to }: Extract<CarrierCommand, { readonly type: "refer" }>): void => {
    if (answeredAt === null) return fail(commandId, "not_answered")
    // Refer-To may hold only a valid SIP URI between its brackets.
    if (Result.isFailure(SipUri.parseSipUri(to))) return fail(commandId, "invalid_address")
    options.perform({ type: "refer", commandId, uri: to, headers: CustomHeaders.of(headers) }, ignore)
  }

  return {
    legId,
    media,
    connect: (terms, isEarly) => {
      if (silentAt !== null) return
      media.connect(terms)
      const { direction } = terms
      if (isEarly) early?.start(direction === "sendrecv" || direction === "sendonly")
    },
    admitted: (id) => {
      callId ??= id
      tellUntold()
    },
    routed: (id) => {
      routeId = id
    },
    refused: () => {
      isRefused = true
      forget()
      tellUntold()
    },
    tell,
    end,
    leave,
    endSoon: (reason) => {
      if (!over) transactions.after(releaseLimitMs, () => end(reason))
    },
    command: (command) => {
      switch (command.type) {
        case "bridge":
          return bridges.bridge(command)
        case "unbridge":
          return bridges.unbridge(legId)
        case "join_room":
          return rooms.join(command)
        case "leave_room":
          return rooms.leave(legId)
        case "refer":
          return refer(command)
        case "media":
          if (silentAt !== null) return fail(command.commandId, "unknown_leg")
          if (answeredAt !== null) return handOver(command)
          // Work that begins with the ringing of a leg, or while it is answered, begins with its first sound.
          if (startsEarly(command.media) && media.whenOpen(() => handOver(command))) return
          return fail(command.commandId, "not_answered")
      }
    }
  }
}
