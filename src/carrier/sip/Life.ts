/**
 * What every leg has, whichever side placed it: its events in order, its media, and exactly one end.
 */
import type { MediaEvent } from "../../media/MediaPlane.ts"
import type { CarrierCommand, CarrierEvent, Json, LegEnd } from "../Carrier.ts"
import { type Context, ignore, type Leg, releaseLimitMs } from "./Context.ts"
import * as LegMedia from "./LegMedia.ts"
import * as Reports from "./Reports.ts"

type MediaCommand = Extract<CarrierCommand, { readonly type: "play" | "stop_playback" | "send_dtmf" }>

/** An event without what is the same for all events of the leg. */
type News = CarrierEvent extends infer Event
  ? Event extends CarrierEvent
    ? Omit<Event, "legId" | "at">
    : never
  : never

export interface Life {
  readonly legId: string
  readonly media: LegMedia.LegMedia
  /** `null` until the leg is admitted. */
  readonly callId: () => string | null
  readonly admitted: (callId: string) => void
  readonly tell: (news: News, done?: (committed: boolean) => void) => void
  readonly isOver: () => boolean
  /**
   * The end of the leg: its media stops, and it is forgotten when the event is committed. Only the first counts; `done`
   * is called in any case.
   */
  readonly end: (end: LegEnd, done?: (committed: boolean) => void) => void
  /** Ends the leg as `end` unless that happens within `releaseLimitMs` by itself. */
  readonly endSoon: (end: LegEnd) => void
  readonly command: (command: MediaCommand) => void
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

  const heard = (event: MediaEvent): void => {
    if (over) return
    switch (event._tag) {
      case "DtmfReceived":
        return tell({ type: "dtmf", digit: event.digit })
      case "PlaybackEnded":
        return tell({ type: "playback_ended", playbackId: event.id, status: event.status, reason: event.reason })
      case "DtmfSent":
        return tell({ type: "dtmf_sent", commandId: event.id })
      case "DtmfFailed":
        return tell({ type: "command_failed", commandId: event.id, reason: event.reason })
      case "MediaTimeout":
        return options.mediaLost()
      case "PlaybackStarted":
      case "Quality":
        return
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
    command: (command) => {
      switch (command.type) {
        case "play":
          return run(plane.play(legId, { id: command.playbackId, url: command.url, loop: command.loop }), ignore)
        case "stop_playback":
          return run(plane.stopPlayback(legId, command.which), ignore)
        case "send_dtmf":
          return run(plane.sendDtmf(legId, command.commandId, command.digits, command.durationMs), ignore)
      }
    }
  }
}

/** A resume value as the port carries it. */
export const json = (value: object): Json => value as unknown as Json
