import { Duration } from "effect"
import type { FarAct, PhoneScript, Step } from "../../../carrier/simulator/PhoneScript.ts"
import type { LegEnd } from "../../../carrier/Carrier.ts"
import type { FarEnd } from "../../../media/FarEnd.ts"
import * as PhoneLine from "./PhoneLine.ts"
import * as Heard from "./Heard.ts"
import * as ReadableSpeech from "./ReadableSpeech.ts"
import * as ReadableTones from "./ReadableTones.ts"

/** A duration: `"3 seconds"`, or milliseconds. */
export type Span = Duration.Input

/** The parts of the service that a phone needs. */
interface World {
  readonly now: () => number
  /** Moves the clock until `isDone`; the error of a failure names `what`. */
  readonly until: (
    isDone: () => boolean,
    options: { readonly within: Span; readonly what: () => string; readonly failure?: () => Error | null }
  ) => Promise<void>
  /** Runs after everything else at that moment, by the clock that is moved. */
  readonly later: (ms: number, run: () => void) => void
  readonly dial: (from: string, to: string) => Promise<{ readonly admitted: true } | { readonly cause: string }>
  /** Decodes a sound file to samples of 16 kHz. */
  readonly decode: (file: Uint8Array) => Promise<Int16Array>
}

/** How a call of a phone ended. */
export interface Ended {
  /** The party that hung up: the phone, the service, or neither (`network`). */
  readonly by: "phone" | "service" | "network"
  readonly cause: LegEnd["cause"] | "refused"
  /** The SIP status of the end; null where SIP has none. */
  readonly sipStatus: number | null
}

type Act =
  | { readonly type: "says"; readonly text: string }
  | { readonly type: "plays"; readonly file: Uint8Array }
  | { readonly type: "presses"; readonly digits: string }
  | { readonly type: "waits" }
  | { readonly type: "hangsUp" }

interface Leg {
  readonly legId: string
  /** The number on the service's side. */
  readonly number: string
  readonly act: (act: FarAct) => void
  readonly direction: "calling" | "called"
  line: PhoneLine.PhoneLine | null
}

/** The party that ended a call, from the phone's point of view. */
const by = { near: "phone", far: "service", network: "network" } as const

const digitMs = 200
const answerAfterMs = 1_000
const isDigits = /^[0-9A-D*#]+$/i

const at = (afterMs: number, act: FarAct): Step => ({ afterMs, act })
const refuses = (sipStatus: number): ReadonlyArray<Step> => [
  at(300, { type: "ends", end: { cause: "final_response", sipStatus, by: "far" } })
]
const rings = at(200, { type: "rings" })

/**
 * A phone of the test. Its behaviour towards calls and within a call is set beforehand or while it runs: acts happen
 * one after the other, once the phone talks. `says`, `presses` and the like return at once, and their effects happen
 * when the clock moves; awaited methods (`hears`, `calls`) move it.
 *
 * It has one call at a time; other callers meanwhile find it busy. Its `heard` is that of its last call.
 */
export class Phone {
  readonly number: string
  readonly #world: World
  #alerting: ReadonlyArray<Step> = [rings, at(answerAfterMs, { type: "answers" })]
  #referred: PhoneScript["referred"] = "calls"
  #acts: Array<{ readonly afterMs: number; readonly act: Act }> = []
  #isActing = false
  #leg: Leg | null = null
  #ended: Ended | null = null
  #calls = 0
  #isRinging = false
  #heard = Heard.make()
  /** The place up to which `hears` has searched, in characters of `heard`. */
  #read = 0

  constructor(number: string, world: World) {
    this.number = number
    this.#world = world
  }

  /** Answers when it is called, a second later unless `after` is set. Phones do so by default. */
  answers({ after = answerAfterMs }: { readonly after?: Span } = {}): this {
    const ms = Duration.toMillis(after)
    this.#alerting = [at(Math.min(200, ms), { type: "rings" }), at(ms, { type: "answers" })]
    return this
  }
  /** Rings and does not answer. */
  rings(): this {
    this.#alerting = [rings]
    return this
  }
  /** Is busy: 486. */
  busy(): this {
    this.#alerting = refuses(486)
    return this
  }
  /** Declines the call: 603. */
  declines(): this {
    this.#alerting = [rings, ...refuses(603)]
    return this
  }
  /** Cannot be reached. */
  unreachable(): this {
    this.#alerting = [at(100, { type: "ends", end: { cause: "no_route", sipStatus: null, by: "network" } })]
    return this
  }
  /** Its reaction when a call is referred to another number: calls that, refuses, or accepts and reports nothing. */
  whenReferred(does: "calls" | "refuses" | "is_silent"): this {
    this.#referred = does
    return this
  }

  /** Says a text, in tones that other phones and transcriptions of the kit understand. */
  says(text: string, options: { readonly after?: Span } = {}): this {
    return this.#does({ type: "says", text }, options.after)
  }
  /** Plays a sound file: WAV, AIFF, MP3, FLAC or Ogg. */
  plays(file: Uint8Array, options: { readonly after?: Span } = {}): this {
    return this.#does({ type: "plays", file }, options.after)
  }
  /** Presses digits, one every 200 ms. */
  presses(digits: string, options: { readonly after?: Span } = {}): this {
    if (!isDigits.test(digits)) throw new TypeError(`${this.number} cannot press ${JSON.stringify(digits)}`)
    return this.#does({ type: "presses", digits }, options.after)
  }
  /** Does nothing for this span before its next act. */
  waits(span: Span): this {
    return this.#does({ type: "waits" }, span)
  }
  hangsUp(options: { readonly after?: Span } = {}): this {
    return this.#does({ type: "hangsUp" }, options.after)
  }

  /** Calls a number of the workspace. Fails when the service refuses the call. */
  async calls(number: string): Promise<this> {
    if (this.#leg !== null) throw new Error(`${this.number} is on a call already`)
    const outcome = await this.#world.dial(this.number, number)
    if ("cause" in outcome) {
      this.#ended = { by: "service", cause: "refused", sipStatus: null }
      throw new Error(`the service does not take the call of ${this.number} to ${number}: ${outcome.cause}`)
    }
    return this
  }

  /**
   * Moves the clock until the phone has heard a spoken text, after those that `hears` has found before. Returns all
   * that it heard up to there. Letter case and the amount of white space do not count; a RegExp is matched as it is.
   */
  async hears(what: string | RegExp, { within = "1 minute" }: { readonly within?: Span } = {}): Promise<string> {
    const wanted = what instanceof RegExp ? String(what) : JSON.stringify(what)
    const find = () => this.#heard.find(what, this.#read)
    await this.#world.until(() => find() !== null, {
      within,
      what: () => `${this.number} to hear ${wanted}; ${this.#account()}`,
      failure: () =>
        this.#leg === null && this.#ended !== null
          ? new Error(
              `the call of ${this.number} is over (${this.#ended.cause}, by ${this.#ended.by}) and it did not hear ` +
                `${wanted}; ${this.#account()}`
            )
          : null
    })
    const from = this.#read
    this.#read = find() ?? from
    return this.heard.slice(from, this.#read).trim()
  }
  /** Moves the clock until the phone is called. */
  isCalled({ within = "1 minute" }: { readonly within?: Span } = {}): Promise<void> {
    const before = this.#calls
    const isNow = () => this.#leg?.direction === "called" || this.#calls > before
    return this.#world.until(isNow, { within, what: () => `${this.number} to be called` })
  }
  /** Moves the clock until the phone talks. */
  isConnected({ within = "1 minute" }: { readonly within?: Span } = {}): Promise<void> {
    return this.#world.until(() => this.state === "talking", {
      within,
      what: () => `${this.number} to be connected; ${this.#account()}`,
      failure: () => (this.#leg === null && this.#ended !== null ? new Error(this.#account()) : null)
    })
  }
  /** Moves the clock until the phone's call is over, and returns how it ended. */
  async isOver({ within = "1 hour" }: { readonly within?: Span } = {}): Promise<Ended> {
    const isNow = () => this.#leg === null && this.#ended !== null
    await this.#world.until(isNow, { within, what: () => `the end of the call of ${this.number}; ${this.#account()}` })
    return this.#ended ?? { by: "network", cause: "error", sipStatus: null }
  }
  /** Moves the clock until the phone has done all of its acts. */
  isDone({ within = "10 minutes" }: { readonly within?: Span } = {}): Promise<void> {
    return this.#world.until(() => this.#acts.length === 0 && !this.#isActing, {
      within,
      what: () => `${this.number} to do all that it was asked for; ${this.#account()}`
    })
  }

  get state(): "idle" | "ringing" | "talking" {
    return this.#leg === null ? "idle" : this.#leg.line === null ? "ringing" : "talking"
  }
  /** Whether the service has reported ringing, for a phone that calls. */
  get hasHeardRinging(): boolean {
    return this.#isRinging
  }
  /** All texts that it heard in its last call. */
  get heard(): string {
    return this.#heard.text()
  }
  /** The digits that it received in its last call. */
  get digits(): string {
    return this.#heard.digits()
  }
  /** The last ten minutes of sound that it heard in its last call: samples of 16 kHz. */
  get sound(): Int16Array {
    return this.#heard.sound()
  }
  /** How its last call ended; null: it has not. */
  get ended(): Ended | null {
    return this.#ended
  }

  /** @internal Its script for an incoming call. Busy while it has a call. */
  _called(): PhoneScript {
    const of = { talking: [], voice: { type: "silence" }, referred: this.#referred } as const
    return this.#leg === null
      ? { ...of, alerting: this.#alerting, holder: this.#holder("called") }
      : { ...of, alerting: refuses(486) }
  }
  /** @internal */
  _calling(): PhoneScript {
    return {
      alerting: [],
      talking: [],
      voice: { type: "silence" },
      referred: this.#referred,
      holder: this.#holder("calling")
    }
  }
  /** @internal Begins the media of a leg; null: the leg is not this phone's. */
  _connect(legId: string, onDigit: (digit: string) => void): FarEnd | null {
    const leg = this.#leg
    if (leg === null || leg.legId !== legId) return null
    leg.line = PhoneLine.make({ heard: this.#heard.hear, digit: this.#heard.digit })
    this.#press = onDigit
    this.#act()
    return leg.line.far
  }
  #press: (digit: string) => void = () => undefined

  #holder(direction: Leg["direction"]): Exclude<PhoneScript["holder"], undefined> {
    return ({ act, legId, number }) => {
      const leg: Leg = { act, legId, number, direction, line: null }
      this.#leg = leg
      this.#ended = null
      this.#calls++
      this.#isRinging = false
      this.#heard = Heard.make()
      this.#read = 0
      return (theirs) => {
        if (theirs.type === "rings") this.#isRinging = true
        if (theirs.type === "ends") this.#over(leg, theirs.end, by[theirs.end.by])
      }
    }
  }

  #over(leg: Leg, { cause, sipStatus }: Pick<LegEnd, "cause" | "sipStatus">, by: Ended["by"]): void {
    if (this.#leg !== leg) return
    this.#leg = null
    this.#acts = []
    this.#isActing = false
    this.#ended = { by, cause, sipStatus }
  }

  #does(act: Act, after: Span = 0): this {
    this.#acts.push({ act, afterMs: Duration.toMillis(after) })
    this.#act()
    return this
  }

  /** Begins the next act, when the phone talks and does nothing. */
  #act(): void {
    const leg = this.#leg
    const isRingingOut = leg?.direction === "calling" && leg.line === null && this.#acts[0]?.act.type === "hangsUp"
    if (leg === null || this.#isActing || (leg.line === null && !isRingingOut)) return
    const next = this.#acts.shift()
    if (next === undefined) return
    this.#isActing = true
    const whileIt = (run: () => void) => () => {
      if (this.#leg === leg) run()
    }
    const done = whileIt(() => {
      this.#isActing = false
      this.#act()
    })
    this.#world.later(
      next.afterMs,
      whileIt(() => this.#perform(leg, next.act, done))
    )
  }

  #perform(leg: Leg, act: Act, done: () => void): void {
    switch (act.type) {
      case "says":
        return leg.line?.say(ReadableTones.write(`${ReadableSpeech.normal(act.text)} `, PhoneLine.rate), done)
      case "plays":
        return void this.#world.decode(act.file).then((samples) => leg.line?.say(samples, done))
      case "presses": {
        const [first = "", ...rest] = act.digits
        this.#press(first)
        const more = rest.join("")
        return this.#world.later(digitMs, () => {
          if (more === "" || this.#leg !== leg) done()
          else this.#perform(leg, { type: "presses", digits: more }, done)
        })
      }
      case "waits":
        return done()
      case "hangsUp": {
        const end: LegEnd =
          leg.line === null
            ? { cause: "cancelled", sipStatus: 487, by: "far" }
            : { cause: "hangup", sipStatus: null, by: "far" }
        leg.act({ type: "ends", end })
        this.#over(leg, end, "phone")
      }
    }
  }

  #account(): string {
    const heard = this.heard
    const where = this.#ended === null ? `it is ${this.state}` : `its call ended (${this.#ended.cause})`
    return `${where}, and has heard ${heard === "" ? "nothing" : JSON.stringify(heard)}`
  }
}
