/**
 * What every leg has, whichever side placed it: its events in order, its media, and exactly one end.
 */
import type { CallId, LegId } from "../../../domain/Id.ts"
import type { Listener } from "../../../media/MediaPlane.ts"
import type { CarrierCommand, LegEnd, LegFacts, LegReport, Told } from "../../Carrier.ts"
import { type Context, ignore, type Leg, releaseLimitMs } from "../Context.ts"
import * as LegMedia from "./LegMedia.ts"
import * as LegEvents from "./LegEvents.ts"

export interface LegLifecycle {
  readonly legId: LegId
  readonly media: LegMedia.LegMedia
  /** A call owns the leg: what it had to tell is told. */
  readonly admitted: (callId: CallId) => void
  /** No call ever will: the leg is forgotten, and what it has to tell is `unknown`. */
  readonly refused: () => void
  /** Waits for the admission, too: at most `maxWaiting` events, besides the end. */
  readonly tell: (news: LegReport, done?: (told: Told) => void) => void
  /**
   * The end of the leg: its media stops, and it is forgotten when the event is through. Only the first counts; `done`
   * is called in any case, when that one is.
   */
  readonly end: (end: LegEnd, done?: (told: Told) => void) => void
  /** Ends the leg as `end` unless that happens within `releaseLimitMs` by itself. */
  readonly endSoon: (end: LegEnd) => void
  /** What is said to its media; nothing can be before the leg is answered. */
  readonly command: (command: Extract<CarrierCommand, { readonly type: "media" }>) => void
}

export interface Options {
  readonly legId: LegId
  readonly callId: CallId | null
  /** The address of the peer that placed it; null: we did. */
  readonly source: string | null
  readonly command: Leg["command"]
  readonly perform: Leg["perform"]
  /** The media plane lost the peer. */
  readonly mediaLost: () => void
  /** No call owns the leg: it has to go. */
  readonly disowned: () => void
}

export const make = (context: Context, options: Options): LegLifecycle => {
  const { legId, source } = options
  const { callers, legs, plane, run, transactions, steadyMs } = context
  const legEvents = LegEvents.make(context, legId)
  const since = steadyMs()
  /** `null` until the leg is admitted. */
  let { callId } = options
  let isRefused = false
  /** What waits for the admission. */
  let untold: Array<() => void> = []
  let answeredAt: number | null = null
  let over = false
  /** Who waits for the end to be through; then what became of it. */
  let ending: Array<(told: Told) => void> | Told = []

  const tellAt = (at: number, news: LegReport, done: (told: Told) => void): void => {
    if (callId === null) return done("unknown")
    legEvents.tell(callId, at, news, (told) => {
      done(told)
      if (told === "unknown" && !over) options.disowned()
    })
  }

  const tell: LegLifecycle["tell"] = (news, done = ignore) => {
    if (news.type === "answered") answeredAt ??= steadyMs()
    const at = transactions.now()
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
      if (!over) tell({ type: "media", event })
    },
    lost: () => {
      if (!over) options.mediaLost()
    }
  }

  const media = LegMedia.make({ legId, plane, run, heard })

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
      answeredMs: answeredAt === null ? null : now - answeredAt
    }
  }

  const leg: Leg = { command: options.command, perform: options.perform, facts, caughtUp: legEvents.caughtUp }
  legs.set(legId, leg)
  if (source !== null) callers.take(source)

  return {
    legId,
    media,
    admitted: (id) => {
      callId ??= id
      tellUntold()
    },
    refused: () => {
      isRefused = true
      forget()
      tellUntold()
    },
    tell,
    end,
    endSoon: (reason) => {
      if (!over) transactions.after(releaseLimitMs, () => end(reason))
    },
    command: ({ commandId, media }) =>
      answeredAt === null
        ? tell({ type: "command_failed", commandId, reason: "not_answered" })
        : run(plane.command(legId, media), ignore)
  }
}
