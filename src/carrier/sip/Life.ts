/**
 * What every leg has, whichever side placed it: its events in order, its media, and exactly one end.
 */
import type { Listener } from "../../media/MediaPlane.ts"
import type { MediaCommand } from "../../media/message/MediaMessage.ts"
import type { Json, LegEnd, LegReport } from "../Carrier.ts"
import { type Context, ignore, type Leg, releaseLimitMs } from "./Context.ts"
import * as LegMedia from "./LegMedia.ts"
import * as Reports from "./Reports.ts"

export interface Life {
  readonly legId: string
  readonly media: LegMedia.LegMedia
  /** `null` until the leg is admitted. */
  readonly callId: () => string | null
  readonly admitted: (callId: string) => void
  readonly tell: (news: LegReport, done?: (committed: boolean) => void) => void
  readonly isOver: () => boolean
  /**
   * The end of the leg: its media stops, and it is forgotten when the event is committed. Only the first counts; `done`
   * is called in any case.
   */
  readonly end: (end: LegEnd, done?: (committed: boolean) => void) => void
  /** Ends the leg as `end` unless that happens within `releaseLimitMs` by itself. */
  readonly endSoon: (end: LegEnd) => void
  readonly command: (media: MediaCommand) => void
}

export interface Options {
  readonly legId: string
  readonly callId: string | null
  /** Decimal `sess-id` of our SDP. */
  readonly sessionId: string
  readonly leg: Leg
  /** The media plane lost the peer. */
  readonly mediaLost: () => void
}

export const make = (context: Context, options: Options): Life => {
  const { legId } = options
  const { plane, run, stack } = context
  const reports = Reports.make(run, context.sink)
  let callId = options.callId
  let over = false

  const tell: Life["tell"] = (news, done = ignore) => {
    // An event without a call is one of a leg that nobody has admitted.
    if (callId === null) return done(false)
    reports.tell(callId, { legId, at: stack.now(), ...news }, done)
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

  const end: Life["end"] = (reason, done = ignore) => {
    if (over) return done(true)
    over = true
    media.close()
    tell({ type: "ended", ...reason }, (committed) => {
      if (context.legs.get(legId) === options.leg) context.legs.delete(legId)
      done(committed)
    })
  }

  return {
    legId,
    media,
    callId: () => callId,
    admitted: (id) => {
      callId = id
    },
    tell,
    isOver: () => over,
    end,
    endSoon: (reason) => {
      if (!over) stack.after(releaseLimitMs, () => end(reason))
    },
    command: (media) => run(plane.command(legId, media), ignore)
  }
}

/** A resume value as the port carries it. */
export const json = (value: object): Json => value as unknown as Json
