import { Schema } from "effect"
import type { Playable } from "../../../../ports/media/PlaybackMessages.ts"
import type { Moment } from "../ActionKind.ts"
import * as BodyField from "../../../verb/BodyField.ts"
import { collection, optionFields, optionNames, optionsAgree } from "./Gather.ts"
import * as Rules from "./GatherRules.ts"
import * as SpeechBody from "../../../verb/SpeechBody.ts"

/** Digit collection with a prompt, guide/calls.md#gathers-with-a-prompt. */

const fields = {
  ...optionFields,
  maximumTries: BodyField.or(BodyField.of(BodyField.int(1, 10), "How often the prompt is heard at most.", 3), 3)
}

type Asked = Rules.Options & { readonly maximumTries: number }

const start = ({ derive, now }: Moment, asked: Asked, prompt: Playable, invalid: Playable | null) => {
  const { maximumTries } = asked
  const { asks, gather } = Rules.start(
    {
      id: derive("gather"),
      options: optionsOf(asked),
      digits: "",
      startedAt: now,
      lastDigitAt: null,
      prompts: { prompt, invalid, maximumTries, tried: 1, playing: null }
    },
    now
  )
  return { type: "begin", item: { ...gather, media: asks } } as const
}

const optionsOf = ({
  initialTimeoutMs,
  interDigitTimeoutMs,
  maximumDigits,
  minimumDigits,
  terminatingDigit,
  timeoutMs,
  validDigits
}: Rules.Options): Rules.Options => ({
  minimumDigits,
  maximumDigits,
  terminatingDigit,
  validDigits,
  timeoutMs,
  interDigitTimeoutMs,
  initialTimeoutMs
})

export const gatherUsingSpeak = collection.verb({
  summary: "Speak a prompt and collect digits; the result is `call.gather_complete`",
  when: "talking",
  body: BodyField.body(
    "GatherUsingSpeak",
    {
      payload: SpeechBody.payload("The prompt.", "Please enter your PIN, then press pound."),
      ...SpeechBody.manner,
      invalidPayload: Schema.optionalKey(
        SpeechBody.payload("Said before the prompt when the try before was invalid.", "That is not right.")
      ),
      ...fields
    },
    optionNames
  ).check(optionsAgree()),
  errors: ["unprocessable"],
  speaks: SpeechBody.speaking,
  act: (moment, body) => {
    const speech = (text: string): Playable => ({ type: "speech", speech: SpeechBody.speechOf(body, text) })
    const { invalidPayload } = body
    return start(moment, body, speech(body.payload), invalidPayload === undefined ? null : speech(invalidPayload))
  }
})

export const gatherUsingAudio = collection.verb({
  summary: "Play a prompt and collect digits; the result is `call.gather_complete`",
  when: "talking",
  body: BodyField.body(
    "GatherUsingAudio",
    {
      audioUrl: BodyField.httpsUrl("The prompt, a sound file."),
      invalidAudioUrl: Schema.optionalKey(
        BodyField.httpsUrl("Played before the prompt when the try before was invalid.")
      ),
      ...fields
    },
    optionNames
  ).check(optionsAgree()),
  targets: ({ audioUrl, invalidAudioUrl }) => ({ audio_url: audioUrl, invalid_audio_url: invalidAudioUrl }),
  act: (moment, body) => {
    const { audioUrl, invalidAudioUrl } = body
    const file = (url: string): Playable => ({ type: "url", url })
    return start(moment, body, file(audioUrl), invalidAudioUrl === undefined ? null : file(invalidAudioUrl))
  }
})
