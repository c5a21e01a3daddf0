/**
 * What every leg has, whichever side placed it: its events in order, its media, and exactly one end.
 */
import type { CallId, LegId } from "../../domain/Id.ts"
import type { Listener } from "../../media/MediaPlane.ts"
import type { MediaCommand } from "../../media/message/MediaMessage.ts"
import type { Json, LegEnd, LegFacts, LegReport, Told } from "../Carrier.ts"
import { type Context, ignore, type Leg, releaseLimitMs } from "./Context.ts"
import * as LegMedia from "./LegMedia.ts"
import * as LegEvents from "./LegEvents.ts"

export interface LegLifecycle {
  readonly legId: LegId
  readonly media: LegMedia.LegMedia
  /** `null` until the leg is admitted. */
  readonly callId: () => CallId | null
  readonly admitted: (callId: CallId) => void
  readonly tell: (news: LegReport, done?: (told: Told) => void) => void
  readonly isOver: () => boolean
  /** Nothing is told of it any more; without it the leg is forgotten when its end is through. */
  readonly forget: () => void
  /**
   * The end of the leg: its media stops, and it is forgotten when the event is through. Only the first counts; `done`
   * is called in any case, when that one is.
   */
  readonly end: (end: LegEnd, done?: (told: Told) => void) => void
  /** Ends the leg as `end` unless that happens within `releaseLimitMs` by itself. */
  readonly endSoon: (end: LegEnd) => void
  readonly command: (media: MediaCommand) => void
}

export interface Options {
  readonly legId: LegId
  readonly callId: CallId | null
  /** Decimal `sess-id` of our SDP. */
  readonly sessionId: string
  readonly command: Leg["command"]
  /** The media plane lost the peer. */
  readonly mediaLost: () => void
  /** No call owns the leg: it has to go. */
  readonly disowned: () => void
}

export const make = (context: Context, options: Options): LegLifecycle => {
  const { legId } = options
  const { legs, plane, run, transactions, steadyMs } = context
  const legEvents = LegEvents.make(context, legId)
  const since = steadyMs()
  let callId = options.callId
  let answeredAt: number | null = null
  let over = false
  /** Who waits for the end to be through; then what became of it. */
  let ending: Array<(told: Told) => void> | Told = []

  const tell: LegLifecycle["tell"] = (news, done = ignore) => {
    // An event without a call is one of a leg that nobody has admitted.
    if (callId === null) return done("unknown")
    if (news.type === "answered") answeredAt ??= steadyMs()
    legEvents.tell(callId, transactions.now(), news, (told) => {
      done(told)
      if (told === "unknown" && !over) options.disowned()
    })
  }

  const heard: Listener = {
    told: (event) => {
      if (!over) tell({ type: "media", event })
    },
    lost: () => {
      if (!over) options.mediaLost()
    }
  }

  const media = LegMedia.make({ legId, sessionId: options.sessionId, plane, run, heard })

  const end: LegLifecycle["end"] = (reason, done = ignore) => {
    if (typeof ending === "string") return done(ending)
    ending.push(done)
    if (over) return
    over = true
    media.close()
    tell({ type: "ended", ...reason }, (told) => {
      forget()
      const waiting = typeof ending === "string" ? [] : ending
      ending = told
      for (const each of waiting) each(told)
    })
  }

  const forget = (): void => {
    if (legs.get(legId) === leg) legs.delete(legId)
  }

  const facts = (): LegFacts | null => {
    if (callId === null) return null
    const now = steadyMs()
    return {
      state: over ? "over" : answeredAt === null ? "alerting" : "answered",
      n: context.memory.last(legId),
      ageMs: now - since,
      answeredMs: answeredAt === null ? null : now - answeredAt
    }
  }

  const leg: Leg = { command: options.command, facts, caughtUp: legEvents.caughtUp }
  legs.set(legId, leg)

  return {
    legId,
    media,
    callId: () => callId,
    admitted: (id) => {
      callId = id
    },
    tell,
    isOver: () => over,
    forget,
    end,
    endSoon: (reason) => {
      if (!over) transactions.after(releaseLimitMs, () => end(reason))
    },
    command: (media) => run(plane.command(legId, media), ignore)
  }
}

/** A resume value as the port carries it. */
export const json = (value: object): Json => value as unknown as Json
