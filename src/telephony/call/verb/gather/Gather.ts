import { Schema } from "effect"
import { disagreement } from "../../../../domain/schema/CodedCheck.ts"
import type { GatherStatus } from "../../../../domain/event/CallEvent.ts"
import type { WorkId } from "../../../../domain/Id.ts"
import type { Playable } from "../../../../ports/media/PlaybackMessages.ts"
import * as ActionKind from "../ActionKind.ts"
import * as BodyField from "../../../verb/BodyField.ts"
import * as Rules from "./GatherRules.ts"
import * as CallPlayback from "../CallPlayback.ts"

/**
 * Digit collection, guide/calls.md#gather, also with a prompt (`GatherPrompt.ts`).
 *
 * A gather is complete at the terminating digit, at `maximumDigits`, when the first digit or the next one does not come
 * in time, and when the whole takes too long. Enough digits are `valid` however it ended. Too few are `invalid` after
 * the terminating digit, and `timeout` after time ran out.
 */
export const optionFields = {
  minimumDigits: BodyField.or(BodyField.of(BodyField.int(1, 128), "Fewer are `invalid`, or `timeout`.", 4), 1),
  maximumDigits: BodyField.or(BodyField.of(BodyField.int(1, 128), "With so many it is complete.", 4), 128),
  terminatingDigit: BodyField.or(
    BodyField.of(
      BodyField.matching(/^[0-9*#]?$/u, "must be one of 0-9, * and #, or empty for none"),
      "Ends the gather and is not part of the digits; empty: none does.",
      "#"
    ),
    "#"
  ),
  validDigits: BodyField.or(
    BodyField.of(
      BodyField.matching(/^[0-9*#]{1,12}$/u, "must be 1 to 12 of 0-9, * and #"),
      "Others are left out.",
      "0123456789"
    ),
    "0123456789#*"
  ),
  timeoutMs: BodyField.or(
    BodyField.of(BodyField.int(1_000, 600_000), "For the whole, in milliseconds.", 30_000),
    60_000
  ),
  interDigitTimeoutMs: BodyField.or(
    BodyField.of(BodyField.int(100, 60_000), "From one digit to the next, in milliseconds.", 5_000),
    5_000
  ),
  initialTimeoutMs: BodyField.or(
    BodyField.of(BodyField.int(100, 600_000), "Until the first digit, in milliseconds.", 10_000),
    5_000
  )
}

const Options = Schema.Struct(optionFields)

/** The names on the wire that say their unit. */
export const optionNames = {
  timeoutMs: "timeout_millis",
  interDigitTimeoutMs: "inter_digit_timeout_millis",
  initialTimeoutMs: "initial_timeout_millis"
} as const

export const optionsAgree = <O extends Rules.Options>() =>
  disagreement<O>(({ maximumDigits, minimumDigits }) =>
    maximumDigits < minimumDigits ? "maximum_digits is below minimum_digits" : undefined
  )

const ended =
  (digits: string, status: GatherStatus): ActionKind.Ending =>
  (of, at) => ({ type: "call.gather_complete", data: { ...of, digits, status, completedAt: at } })

/** Translates an outcome of the rules for the item. */
const turn = <I extends ActionKind.Activity & Rules.Gather>(
  { asks, complete, cut, gather }: Rules.Outcome<I>,
  tells: ActionKind.Ending = null
): ActionKind.Turn<I> => ({
  item: gather === null ? null : { ...gather, media: gather.prompts?.playing == null ? null : gather.media },
  tells: complete === null ? tells : ended(complete.digits, complete.status),
  ...(asks === null ? {} : { asks }),
  media: cut === null ? [] : [{ type: "stop_prompt", promptId: cut }]
})

/** A prompt that could not be played is reported like any other sound; the gather continues without it. */
const promptFailed = (id: WorkId, sound: Playable, reason: string | null): ActionKind.Ending =>
  CallPlayback.ended(id, sound.type === "speech", "failed", reason)

export const collection = ActionKind.make(
  "gather",
  { options: Schema.toType(Options), ...Rules.fields },
  {
    limit: 1,
    full: "a gather is already running on this call",
    digit: (item, digit, at) => turn(Rules.step(item, { type: "digit", digit }, at)),
    sound: {
      idOf: ({ prompts }) => prompts?.playing?.id ?? null,
      ended: (item, { reason, status }, at) => {
        const next = turn(Rules.step(item, { type: "prompt_ended", status }, at))
        const { media } = item
        return status === "failed" && media?.type === "prompt"
          ? { ...next, tells: promptFailed(media.id, media.sound, reason) }
          : next
      }
    },
    deadline: { at: Rules.dueAt, due: (item, at) => turn(Rules.step(item, { type: "due" }, at)) },
    legEnded: { ending: ({ digits }) => ended(digits, "call_ended") },
    restarted: { turn: (item, at) => turn(Rules.step(item, { type: "restarted" }, at)) }
  }
)

export const gather = collection.verb({
  summary: "Collect digits; the result is `call.gather_complete`",
  when: "talking",
  body: BodyField.body("Gather", optionFields, optionNames).check(optionsAgree()),
  act: ({ derive, now }, options) => ({
    type: "begin",
    item: {
      id: derive("gather"),
      // It collects in silence, as a gather with a prompt plays only its prompt.
      media: { type: "cut_playback" },
      options,
      digits: "",
      startedAt: now,
      lastDigitAt: null,
      prompts: null
    }
  })
})

export const stopGather = collection.verb({
  summary: "Cancel the gather",
  when: "running",
  body: BodyField.nothing,
  act: () => ({
    type: "end",
    ending: ({ digits }) => ended(digits, "cancelled"),
    media: ({ prompts }) => (prompts?.playing == null ? [] : [{ type: "stop_prompt", promptId: prompts.playing.id }])
  })
})
