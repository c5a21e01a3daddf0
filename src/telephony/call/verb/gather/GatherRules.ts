import { Schema } from "effect"
import type { GatherStatus } from "../../../../domain/event/CallEvent.ts"
import { deriveOpaque, WorkId } from "../../../../domain/Id.ts"
import * as Secret from "../../../../domain/schema/Secret.ts"
import type { MediaCommand } from "../../../../ports/media/MediaMessage.ts"
import { Playable } from "../../../../ports/media/PlaybackMessages.ts"

/**
 * The rules of collecting digits, guide/calls.md#gather and guide/calls.md#gathers-with-a-prompt, as a table without
 * effects.
 *
 * A gather without prompts listens from its beginning. One with prompts has tries: each begins with a prompt (after the
 * invalid prompt, if the try before was invalid), which the first digit that counts cuts off. Its timers begin when the
 * prompt has ended, for any reason. A try fails where a gather without prompts would end as `invalid` or `timeout`;
 * then the next begins, and the last one's outcome is the gather's.
 */
export interface Options {
  readonly minimumDigits: number
  readonly maximumDigits: number
  readonly terminatingDigit: string
  readonly validDigits: string
  readonly timeoutMs: number
  readonly interDigitTimeoutMs: number
  readonly initialTimeoutMs: number
}

const Prompts = Schema.Struct({
  prompt: Playable,
  /** The sound before the prompt when the try before was invalid; null: none. */
  invalid: Schema.NullOr(Playable),
  maximumTries: Schema.Int,
  /** The number of the present try, from 1. */
  tried: Schema.Int,
  /** The sound that is playing; null: none, and the timers run. */
  playing: Schema.NullOr(
    Schema.Struct({ id: WorkId, what: Schema.Literals(["prompt", "invalid"]), since: Schema.Number })
  )
})
type Prompts = typeof Prompts.Type

export const fields = {
  digits: Secret.digits(Schema.String),
  /** Since when the timers of this try run; during a prompt, when it began. */
  startedAt: Schema.Number,
  lastDigitAt: Schema.NullOr(Schema.Number),
  prompts: Schema.NullOr(Prompts)
}

export interface Gather {
  readonly id: WorkId
  readonly options: Options
  readonly digits: string
  readonly startedAt: number
  readonly lastDigitAt: number | null
  readonly prompts: Prompts | null
}

export type Input =
  | { readonly type: "digit"; readonly digit: string }
  | { readonly type: "prompt_ended"; readonly status: "completed" | "stopped" | "failed" }
  | { readonly type: "due" }
  /** It is unknown whether its prompt is playing. */
  | { readonly type: "restarted" }

export interface Outcome<G extends Gather> {
  /** Null: it is complete. */
  readonly gather: G | null
  /** Holds the digits of the last try. */
  readonly complete: { readonly digits: string; readonly status: GatherStatus } | null
  /** The prompt that begins. */
  readonly asks: MediaCommand | null
  /** The prompt that is cut off. */
  readonly cut: WorkId | null
}

type Started<G extends Gather> = Outcome<G> & { readonly gather: G }

/** Longer than any prompt: the end of one that has not ended by then is lost. */
const longestPromptMs = 35 * 60_000

const goesOn = <G extends Gather>(gather: G, cut: WorkId | null = null): Started<G> => ({
  gather,
  complete: null,
  asks: null,
  cut
})

const complete = ({ digits }: Gather, status: GatherStatus, cut: WorkId | null): Outcome<never> => ({
  gather: null,
  complete: { digits, status },
  asks: null,
  cut
})

/** Whether a digit has an effect. One outside of `validDigits` does when there is an invalid prompt to play. */
const counts = ({ options, prompts }: Gather, digit: string): boolean =>
  digit === options.terminatingDigit ||
  options.validDigits.includes(digit) ||
  (prompts !== null && prompts.invalid !== null)

/** The digits that cut a prompt off. */
const stoppedBy = (gather: Gather): string =>
  "0123456789*#ABCD"
    .split("")
    .filter((digit) => counts(gather, digit))
    .join("")

/** Begins a prompt and silences all else. */
const play = <G extends Gather>(gather: G, prompts: Prompts, what: "prompt" | "invalid", at: number): Started<G> => {
  const sound = what === "invalid" && prompts.invalid !== null ? prompts.invalid : prompts.prompt
  const id = WorkId.make(deriveOpaque(gather.id, what, prompts.tried))
  const playing = { id, what, since: at }
  const heard = { ...gather, prompts: { ...prompts, playing }, digits: "", startedAt: at, lastDigitAt: null }
  return {
    gather: heard,
    complete: null,
    asks: { type: "prompt", id, sound, stoppedBy: stoppedBy(heard) },
    cut: null
  }
}

/** Begins the first try. */
export const start = <G extends Gather>(gather: G, at: number): Started<G> =>
  gather.prompts === null ? goesOn(gather) : play(gather, gather.prompts, "prompt", at)

/** Begins to listen and starts the timers. */
const listen = <G extends Gather>(gather: G, at: number): G =>
  gather.prompts === null
    ? gather
    : { ...gather, prompts: { ...gather.prompts, playing: null }, digits: "", startedAt: at, lastDigitAt: null }

const failed = <G extends Gather>(
  gather: G,
  status: "invalid" | "timeout",
  at: number,
  cut: WorkId | null
): Outcome<G> => {
  const { prompts } = gather
  if (prompts === null || prompts.tried >= prompts.maximumTries) return complete(gather, status, cut)
  const isToBeTold = prompts.invalid !== null && (status === "invalid" || gather.digits !== "")
  // The new prompt cuts off one that is playing.
  return play(gather, { ...prompts, tried: prompts.tried + 1 }, isToBeTold ? "invalid" : "prompt", at)
}

const isEnough = ({ digits, options }: Gather): boolean => digits.length >= options.minimumDigits

const digit = <G extends Gather>(before: G, pressed: string, at: number): Outcome<G> => {
  if (!counts(before, pressed)) return goesOn(before)
  const cut = before.prompts?.playing?.id ?? null
  const gather = cut === null ? before : listen(before, at)
  const { options } = gather
  if (pressed === options.terminatingDigit)
    return isEnough(gather) ? complete(gather, "valid", cut) : failed(gather, "invalid", at, cut)
  if (!options.validDigits.includes(pressed)) return failed(gather, "invalid", at, cut)
  const collected = { ...gather, digits: gather.digits + pressed, lastDigitAt: at }
  return collected.digits.length >= options.maximumDigits ? complete(collected, "valid", cut) : goesOn(collected, cut)
}

const promptEnded = <G extends Gather>(gather: G, status: "completed" | "stopped" | "failed", at: number): Outcome<G> =>
  gather.prompts?.playing?.what === "invalid" && status !== "stopped"
    ? play(gather, gather.prompts, "prompt", at)
    : goesOn(listen(gather, at))

const due = <G extends Gather>(gather: G, at: number): Outcome<G> => {
  const playing = gather.prompts?.playing ?? null
  if (playing !== null) return goesOn(listen(gather, at), playing.id)
  return isEnough(gather) && gather.digits !== ""
    ? complete(gather, "valid", null)
    : failed(gather, "timeout", at, null)
}

export const step = <G extends Gather>(gather: G, input: Input, at: number): Outcome<G> => {
  switch (input.type) {
    case "digit":
      return digit(gather, input.digit, at)
    case "prompt_ended":
      return gather.prompts?.playing == null ? goesOn(gather) : promptEnded(gather, input.status, at)
    case "due":
      return due(gather, at)
    case "restarted":
      return goesOn(gather.prompts?.playing == null ? gather : listen(gather, at))
  }
}

/** When `due` happens, unless something else does first. */
export const dueAt = ({ lastDigitAt, options, prompts, startedAt }: Gather): number =>
  prompts !== null && prompts.playing !== null
    ? prompts.playing.since + longestPromptMs
    : Math.min(
        startedAt + options.timeoutMs,
        lastDigitAt === null ? startedAt + options.initialTimeoutMs : lastDigitAt + options.interDigitTimeoutMs
      )
