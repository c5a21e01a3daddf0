import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import type { CaptureEvent } from "../../../src/media/capture/CaptureMessage.ts"
import { type FarEnd, type PacketFormat, withoutPackets } from "../../../src/media/FarEnd.ts"
import type { Frame } from "../../../src/media/Frame.ts"
import * as LocalLeg from "../../../src/media/plane/LocalLeg.ts"
import type { MediaEvent } from "../../../src/ports/media/MediaMessage.ts"
import * as NoStreams from "../stream/NoStreams.ts"

export interface Options {
  readonly rate?: SampleRate
  /** Writes the sound of the far end; without it, the far end is silent. */
  readonly say?: (out: Frame) => void
  /** Digits are taken outside the sound, and replace it for their duration as in RTP; else they are tones. */
  readonly takesDigits?: boolean
  /** It presses digits as tones. */
  readonly pressesTones?: boolean
  readonly format?: PacketFormat | null
  readonly clock?: () => number
  readonly cpuClock?: () => number
}

/** A leg whose far end keeps all sound that it is sent. */
export const make = ({
  clock = () => 0,
  cpuClock = clock,
  format = null,
  pressesTones = false,
  rate = 8000,
  say,
  takesDigits = true
}: Options = {}) => {
  const heard: Array<number> = []
  const said: Array<number> = []
  const events: Array<MediaEvent> = []
  const captured: Array<CaptureEvent> = []
  const defects: Array<unknown> = []
  const faults: Array<unknown> = []
  const digits: Array<string> = []
  const present = { rate, isReady: true, isClosed: false }
  let eventFrames = 0
  const far: FarEnd = {
    ...withoutPackets,
    rate: () => present.rate,
    ready: () => present.isReady,
    say: (out, now) => {
      if (present.isClosed) throw new Error("closed")
      said.push(now)
      if (say === undefined) out.samples.fill(0)
      else say(out)
      return say !== undefined
    },
    hear: ({ rate: of, samples }) => {
      if (present.isClosed) throw new Error("closed")
      if (of !== present.rate || samples.length !== of / 50) throw new Error(`a frame of ${of}`)
      for (const sample of samples) heard.push(eventFrames > 0 ? 0 : sample)
      eventFrames = Math.max(0, eventFrames - 1)
    },
    press: (digit, durationMs) => {
      if (!takesDigits) return false
      digits.push(digit)
      eventFrames = Math.ceil(durationMs / 20) + 2
      return true
    },
    pressesTones: () => pressesTones,
    packetFormat: () => format,
    close: () => {
      present.isClosed = true
    }
  }
  const leg = LocalLeg.make(far, {
    clock,
    cpuClock,
    emit: (event) => void events.push(event),
    want: () => undefined,
    unwant: () => undefined,
    ask: () => undefined,
    streams: NoStreams.make(),
    captured: (event) => void captured.push(event),
    onDefect: (error) => void defects.push(error),
    onFault: (error) => void faults.push(error)
  })
  return {
    leg,
    heard,
    /** The times at which it was read. */
    said,
    events,
    /** The events of captures for their receivers. */
    captured,
    defects,
    faults,
    /** The digits that were pressed to the far end. */
    digits,
    present,
    /** Returns the sound that the far end was sent since the last call. */
    take: (): Int16Array => Int16Array.from(heard.splice(0))
  }
}

export type FakeLeg = ReturnType<typeof make>
