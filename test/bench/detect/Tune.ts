/**
 * `node test/bench/detect/Tune.ts`: tests limits of machine detection on the half of the corpus for that purpose, and
 * prints those in use and the best ones. A person that is taken for a machine counts five times.
 */
import { isDeepStrictEqual } from "node:util"
import * as SoundFeatures from "../../../src/protocol/audio/detect/SoundFeatures.ts"
import { limits, type Patience } from "../../../src/protocol/audio/detect/Limits.ts"
import * as AnsweringMachine from "../../../src/protocol/audio/detect/AnsweringMachine.ts"
import * as Tones from "../../../src/protocol/audio/detect/Tones.ts"
import * as Voice from "../../../src/protocol/audio/detect/Voice.ts"
import * as Corpus from "./Corpus.ts"
import * as Trial from "./Trial.ts"

const counts = { person: 300, voicemail: 300, intercept: 20, fax: 0, nobody: 20 }

interface Heard {
  readonly clip: Omit<Corpus.Clip, "sound">
  readonly frames: ReadonlyArray<AnsweringMachine.Frame>
}

const voices: ReadonlyArray<Voice.Options> = [60, 100, 140].map((hangoverMs) => ({
  ...AnsweringMachine.voice,
  hangoverMs
}))

/** The clips as each variant of voice detection perceives them. */
const heard = new Map<Voice.Options, Array<Heard>>(voices.map((options) => [options, []]))
for (const { sound, ...clip } of Corpus.make(Corpus.fit, counts)) {
  const features = SoundFeatures.make()
  const tones = Tones.make()
  const judges = voices.map((options) => ({
    options,
    speech: Voice.judge(options),
    frames: [] as Array<AnsweringMachine.Frame>
  }))
  let atMs = 0
  for (const frame of Trial.frames(sound, clip.rate)) {
    const now = features.next(frame, clip.rate)
    const tone = tones(now)
    for (const { frames, speech } of judges) {
      if (atMs === clip.answeredAt) speech.restart()
      frames.push({ isSpeech: speech.isSpeech(now), noiseDbfs: now.whitened, tone })
    }
    atMs += 20
  }
  for (const { frames, options } of judges) heard.get(options)?.push({ clip, frames })
}

const verdictOf = ({ clip, frames }: Heard, patience: Patience) => {
  let rules = AnsweringMachine.start
  for (const [i, frame] of frames.entries()) {
    if (i * 20 === clip.answeredAt) rules = AnsweringMachine.answered(rules)
    ;[rules] = AnsweringMachine.step(rules, frame, patience)
    if (rules.verdict !== null) return rules.verdict
  }
  return { verdict: "not_sure" as const, atMs: limits.total }
}

/** Every combination of the values to test. */
const patiences: ReadonlyArray<Patience> = [2800, 3000, 3200].flatMap((pausedGreeting) =>
  [3600, 4000, 4400].flatMap((machineGreeting) =>
    [600, 700, 800].flatMap((first) =>
      [1400, 1600, 1800].flatMap((last) =>
        [1000, 1200].map((askedPause) => ({
          ...limits,
          pausedGreeting,
          machineGreeting,
          askedPause,
          waits: [
            { greeting: 500, silence: first },
            { greeting: 700, silence: first + 200 },
            { greeting: Number.POSITIVE_INFINITY, silence: last }
          ]
        }))
      )
    )
  )
)

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const tried = [...heard].flatMap(([options, clips]) =>
  patiences.map((patience) => {
    let [people, others] = [0, 0]
    const times: Array<number> = []
    for (const clip of clips) {
      const { atMs, verdict } = verdictOf(clip, patience)
      const { truth } = clip.clip
      const result = Trial.results[verdict]
      if (truth === "human") times.push(atMs)
      if (result === truth) continue
      if (truth === "human") people += result === "machine" ? 5 : 1
      else others++
    }
    const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length
    return { cost: people + others, people, others, mean, median: median(times), options, patience }
  })
)

const show = ({ cost, mean, median: half, options, others, patience, people }: (typeof tried)[number]): void =>
  console.log(
    `cost ${cost} (people ${people}, others ${others}), people median ${half} ms, mean ${Math.round(mean)} ms: ` +
      `greeting ${patience.machineGreeting}, with pauses ${patience.pausedGreeting}, asked behind ${patience.askedPause}, waits ` +
      `${patience.waits.map(({ greeting, silence }) => `${silence} below ${greeting}`).join(", ")}; hangover ${options.hangoverMs}`
  )

for (const each of tried)
  if (each.options.hangoverMs === AnsweringMachine.voice.hangoverMs && isDeepStrictEqual(each.patience, limits))
    show(each)
for (const each of tried.toSorted((one, other) => one.cost - other.cost || one.mean - other.mean).slice(0, 20))
  show(each)
