import * as Resample from "../../protocol/audio/Resample.ts"
import * as Tone from "../../protocol/audio/Tone.ts"
import type { PhoneScript as Voice } from "../../media/plane/MediaPlane.ts"
import * as SimulatedPhone from "../../media/SimulatedPhone.ts"
import type { LegId } from "../../domain/Id.ts"
import type { LegEnd } from "../Carrier.ts"
import type { CallerActs } from "../InboundSimulator.ts"

/** An act of the far party of a simulated leg, by a phone's script or by the commands of a joined leg's party. */
export type FarAct =
  | { readonly type: "rings" }
  /** The phone's sound begins, and ours is heard, before it answers (SIP 183). */
  | { readonly type: "sends_early_media" }
  | { readonly type: "answers" }
  /** `end` is the report of our side of the leg. */
  | { readonly type: "ends"; readonly end: LegEnd }

export interface Step {
  readonly afterMs: number
  readonly act: FarAct
}

/** A simulated phone: its voice, and its acts in the order of their offsets. */
export interface PhoneScript {
  /** The acts counted from the dial, or from the phone's call to us. They stop at the answer. */
  readonly alerting: ReadonlyArray<Step>
  /** The acts counted from the answer. */
  readonly talking: ReadonlyArray<Step>
  readonly voice: Voice
  /** How it reacts to a REFER: it calls as requested and reports, accepts and reports nothing, or refuses. */
  readonly referred: "calls" | "is_silent" | "refuses"
  /** A holder that acts on this phone besides its script; absent when the script acts alone. */
  readonly holder?: Holder
}

/**
 * Called when a leg of the phone begins, with a way to act on it. The result receives the acts of our side and the
 * leg's end, whose `by` is as the phone sees it: `near` is the phone. It may receive the end twice.
 */
type Holder = (held: {
  readonly legId: LegId
  /** The number at our side of the leg. */
  readonly number: string
  readonly act: (act: FarAct) => void
}) => (act: FarAct) => void

const at = (afterMs: number, act: FarAct): Step => ({ afterMs, act })

const rings = at(200, { type: "rings" })
const answersAfter = (ms: number) => at(ms, { type: "answers" })
const ends = (afterMs: number, cause: LegEnd["cause"], sipStatus: number | null, by: LegEnd["by"]): Step =>
  at(afterMs, { type: "ends", end: { cause, sipStatus, by } })

const answering = (voice: Voice, more: Partial<PhoneScript> = {}): PhoneScript => ({
  alerting: [rings, answersAfter(1000)],
  talking: [],
  voice,
  referred: "calls",
  ...more
})
const refusing = (...alerting: ReadonlyArray<Step>): PhoneScript => answering({ type: "silence" }, { alerting })
const hangsUpAfter = (ms: number): Partial<PhoneScript> => ({ talking: [ends(ms, "hangup", null, "far")] })

const speech = (ms: number): SimulatedPhone.Part => ({ sound: "speech", ms })
const silence = (ms: number): SimulatedPhone.Part => ({ sound: "silence", ms })
const tone = (ms: number, dbfs: number, ...frequencies: ReadonlyArray<number>): SimulatedPhone.Part => ({
  sound: "tone",
  ms,
  components: frequencies.map((frequency) => ({ frequency, dbfs }))
})
const once = (...parts: ReadonlyArray<SimulatedPhone.Part>): Voice => ({ type: "plays", parts, repeats: false })
const forever = (...parts: ReadonlyArray<SimulatedPhone.Part>): Voice => ({ type: "plays", parts, repeats: true })

/** Plays digits as tones, 100 ms long with 100 ms between them. */
const tones = (digits: string): ReadonlyArray<SimulatedPhone.Part> =>
  Array.from(digits).flatMap((digit): ReadonlyArray<SimulatedPhone.Part> => {
    const components = Tone.dtmf(digit)
    return components === null ? [] : [{ sound: "tone", ms: 100, components }, silence(100)]
  })

/** ITU-T E.180: the tones before an announcement that a call failed. */
const specialInformation = [950, 1400, 1800].map((hz) => tone(330, -16, hz))

const echo: Voice = { type: "echo" }
const beep = tone(500, -10, 1000)

/**
 * The simulated phones, by number, guide/connections.md#simulated-phones. Tenants cannot order these numbers. When a
 * phone rings for ever, the call's own deadline ends the leg.
 */
const phones: ReadonlyMap<string, PhoneScript> = new Map([
  ["+12025550100", answering(echo)],
  ["+12025550101", refusing(ends(300, "final_response", 486, "far"))],
  ["+12025550102", refusing(rings)],
  ["+12025550103", refusing(rings, ends(1000, "final_response", 603, "far"))],
  ["+12025550104", answering(once(speech(3000), beep))],
  ["+12025550105", answering({ type: "press", digits: "1234#", afterMs: 2000, everyMs: 5000 })],
  ["+12025550106", answering({ type: "silence" }, hangsUpAfter(5000))],
  ["+12025550107", refusing(ends(100, "no_route", null, "network"))],
  ["+12025550108", refusing(ends(100, "error", null, "network"))],
  ["+12025550109", answering(echo, { alerting: [rings, answersAfter(20_000)] })],
  ["+12025550110", answering(forever(tone(1000, -13, 440)))],
  ["+12025550111", answering(forever(speech(760), silence(3000), speech(2000), silence(2000)))],
  ["+12025550112", answering(once(speech(12_000), silence(300), beep))],
  ["+12025550113", answering(forever(silence(200), tone(3000, -13, 2100), silence(1500)))],
  ["+12025550114", answering(forever(silence(2000), ...tones("1234#"), silence(2000)))],
  ["+12025550115", answering(once(speech(3000)))],
  ["+12025550116", answering({ type: "silence" })],
  ["+12025550117", answering(echo, hangsUpAfter(20_000))],
  [
    "+12025550118",
    answering(once(tone(2800, -13, 440, 480)), {
      alerting: [at(200, { type: "sends_early_media" }), answersAfter(3000)]
    })
  ],
  ["+12025550119", answering(echo, { referred: "refuses" })],
  ["+12025550120", answering(echo, { referred: "is_silent" })],
  ["+12025550121", answering(once(speech(12_000)))],
  ["+12025550122", answering(once(silence(500), ...specialInformation, silence(300), speech(12_000)))],
  [
    "+12025550123",
    answering(once(silence(300), ...specialInformation, silence(300), speech(12_000)), {
      alerting: [at(200, { type: "sends_early_media" }), answersAfter(2500)]
    })
  ],
  // These tones can be distinguished in one room, because no multiple of one is near another.
  ["+12025550124", answering(forever(tone(1000, -20, 439)))],
  ["+12025550125", answering(forever(tone(1000, -20, 1151)))],
  ["+12025550126", answering(forever(tone(1000, -20, 2239)))]
])

/** The phone with this number; null when it is not a phone's. It may be a tenant's. */
export const ofNumber = (number: string): PhoneScript | null => phones.get(number) ?? null

/**
 * A phone that calls a tenant's number. It echoes once it is answered, gives up after a minute of ringing, and hangs up
 * a minute after the answer.
 */
export const caller: PhoneScript = answering(echo, {
  alerting: [ends(60_000, "cancelled", 487, "far")],
  ...hangsUpAfter(60_000)
})

/** How long a phone waits before each of its acts. */
const actMs = 1_000
const pauses: Readonly<Record<string, number>> = { w: 500, W: 1_000 }

/** A phone that calls a tenant's number and does this once it is answered. It gives up after a minute of ringing. */
export const acting = ({ digits, hangUpAfterMs, speech }: CallerActs): PhoneScript => {
  const script: PhoneScript = hangUpAfterMs === null ? caller : { ...caller, ...hangsUpAfter(hangUpAfterMs) }
  if (speech === null && digits === "") return script
  const { sampleRate } = SimulatedPhone
  const said = speech === null ? new Int16Array(0) : resampled(speech, sampleRate)
  const samples = new Int16Array((actMs * sampleRate) / 1000 + said.length)
  samples.set(said, samples.length - said.length)
  const presses: Array<{ readonly digit: string; readonly atMs: number }> = []
  // Digits come at the beginning of a frame.
  let atMs = Math.ceil((speech === null ? 0 : (samples.length * 1000) / sampleRate) / 20) * 20 + actMs
  for (const each of digits) {
    const pause = pauses[each]
    if (pause === undefined) presses.push({ digit: each, atMs })
    atMs += pause ?? SimulatedPhone.digitIntervalMs
  }
  return { ...script, voice: { type: "acts", samples, presses } }
}

const resampled = ({ rate, samples }: NonNullable<CallerActs["speech"]>, to: number): Int16Array => {
  const resampler = Resample.make(rate, to)
  const whole = Resample.concat([resampler.process(samples), resampler.flush()])
  resampler.free()
  return whole
}

/** The phones that answer and that call. */
export interface Phones {
  /** The phone with this number; null when it is not a phone's. It may be a tenant's. */
  readonly called: (number: string) => PhoneScript | null
  /** The phone that calls a tenant from this number. */
  readonly calling: (number: string) => PhoneScript
}

export const simulated: Phones = { called: ofNumber, calling: () => caller }
