import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Tone from "../../protocol/audio/Tone.ts"
import type { WorkId } from "../../domain/Id.ts"
import * as Frame from "../Frame.ts"
import type { MediaEvent } from "../../ports/media/MediaMessage.ts"
import type { Source } from "./Source.ts"

interface Dialing {
  /** Null for a relayed digit: no command caused it, so its end is not reported. */
  readonly id: WorkId | null
  readonly digits: string
  readonly durationMs: number
  /** Called as its digit begins, before the far end has it. */
  readonly onStarted: (now: number) => void
  next: number
}

/** The most requests that may wait on one leg, the present one included. */
export const maxRequests = 32
/** The silence after each digit. ITU-T Q.24 requires 40 to 70 ms of receivers, and an RFC 4733 end takes 60 ms. */
const pauseMs = 100
const shortestMs = 40
const longestMs = 6000

/** The characters that are pauses, and how long each lasts. */
const pauses: Readonly<Record<string, number>> = { w: 500, W: 1000 }

const valid = /^[0-9A-D*#wW]{1,256}$/

const framesOf = (ms: number) => Math.ceil(ms / Frame.frameMs)

/** How long a relayed digit is sent, because the other leg's duration is known only at its end. */
const relayedMs = 100

export interface Dialer extends Source {
  readonly send: (id: WorkId, digits: string, durationMs: number) => void
  /** Sends a digit of another leg; drops it when too many wait. `onBegun`: its sending to the far end begins now. */
  readonly relay: (digit: string, onStarted: (now: number) => void) => void
}

/**
 * Sends digits on one leg, request by request: outside the sound if the far end takes them (`press`), else as tones.
 * `w` and `W` among them are silence.
 *
 * Durations are clamped to 40 to 6000 ms. Every request ends with exactly one `ended`.
 */
export const make = (
  press: (digit: string, durationMs: number) => boolean,
  emit: (event: MediaEvent) => void
): Dialer => {
  let queue: Array<Dialing> = []
  let out = Frame.make(8000)
  const failed = (id: WorkId, reason: "invalid_digits" | "too_many" | "closed") =>
    emit({ type: "ended", id, status: "failed", reason })
  let toneLeft = 0
  let pauseLeft = 0
  /** The digit that sounds as a tone, and the rate that its oscillator was made for. */
  let tone: { readonly digit: string; readonly rate: SampleRate; readonly oscillator: Tone.Oscillator } | null = null

  const toneAt = (digit: string, rate: SampleRate) => ({
    digit,
    rate,
    oscillator: Tone.oscillator(Tone.dtmf(digit) ?? [], rate)
  })

  const start = (dialing: Dialing, rate: SampleRate, now: number) => {
    const digit = dialing.digits[dialing.next++] ?? ""
    const ms = pauses[digit]
    if (ms !== undefined) {
      toneLeft = 0
      pauseLeft = framesOf(ms)
      return
    }
    toneLeft = framesOf(dialing.durationMs)
    pauseLeft = framesOf(pauseMs)
    dialing.onStarted(now)
    tone = press(digit, dialing.durationMs) ? null : toneAt(digit, rate)
  }

  return {
    send: (id: WorkId, digits: string, durationMs: number): void => {
      if (!valid.test(digits)) return failed(id, "invalid_digits")
      if (queue.length >= maxRequests) return failed(id, "too_many")
      const heldMs = Math.min(longestMs, Math.max(shortestMs, durationMs))
      queue.push({ id, digits, durationMs: heldMs, onStarted: () => undefined, next: 0 })
    },
    relay: (digit, onStarted): void => {
      if (queue.length < maxRequests) queue.push({ id: null, digits: digit, durationMs: relayedMs, onStarted, next: 0 })
    },
    /** The frame is silent when the far end takes digits outside the sound. */
    next: (rate, _, now) => {
      const dialing = queue[0]
      if (dialing === undefined) return null
      if (toneLeft === 0 && pauseLeft === 0) {
        if (dialing.next === dialing.digits.length) {
          queue = queue.slice(1)
          if (dialing.id !== null) emit({ type: "ended", id: dialing.id, status: "completed", reason: null })
          const following = queue[0]
          if (following === undefined) return null
          start(following, rate, now)
        } else start(dialing, rate, now)
      }
      out = Frame.at(rate, out)
      out.samples.fill(0)
      if (toneLeft > 0) {
        toneLeft--
        if (tone !== null && tone.rate !== rate) tone = toneAt(tone.digit, rate)
        tone?.oscillator.render(out.samples)
      } else pauseLeft--
      return out
    },
    pass: () => undefined,
    ready: () => queue.length > 0,
    close: (): void => {
      const waiting = queue
      queue = []
      for (const { id } of waiting) if (id !== null) failed(id, "closed")
    }
  }
}
