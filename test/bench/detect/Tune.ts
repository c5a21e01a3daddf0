/**
 * `node test/bench/detect/Tune.ts`: tries limits of machine detection on the half of the corpus that is there for it,
 * and prints the best. A person who is taken for a machine counts five times.
 */
import * as Features from "../../../src/audio/detect/Features.ts"
import * as Machine from "../../../src/audio/detect/Machine.ts"
import * as Tones from "../../../src/audio/detect/Tones.ts"
import * as Voice from "../../../src/audio/detect/Voice.ts"
import * as Corpus from "./Corpus.ts"
import * as Trial from "./Trial.ts"

const counts = { person: 240, voicemail: 160, intercept: 0, fax: 0, nobody: 0 }

interface Heard {
  readonly clip: Omit<Corpus.Clip, "sound">
  readonly frames: ReadonlyArray<Machine.Frame>
}

const voices: ReadonlyArray<Voice.Options> = [80, 100].flatMap((onsetMs) =>
  [22, 30].map((rangeDb) => ({ ...Machine.voice, onsetMs, rangeDb }))
)

/** What each way to hear speech makes of the clips. */
const heard = new Map<Voice.Options, Array<Heard>>(voices.map((options) => [options, []]))
for (const { sound, ...clip } of Corpus.make(Corpus.fit, counts)) {
  const features = Features.make()
  const tones = Tones.make()
  const judges = voices.map((options) => ({
    options,
    isSpeech: Voice.judge(options),
    frames: [] as Array<Machine.Frame>
  }))
  for (const frame of Trial.frames(sound, clip.rate)) {
    const now = features.next(frame, clip.rate)
    const tone = tones(now)
    for (const { frames, isSpeech } of judges) frames.push({ isSpeech: isSpeech(now), tone })
  }
  for (const { frames, options } of judges) heard.get(options)?.push({ clip, frames })
}

const verdictOf = ({ clip, frames }: Heard, patience: Machine.Patience) => {
  let rules = Machine.begin
  for (const [i, frame] of frames.entries()) {
    if (i * 20 === clip.answeredAt) rules = Machine.answered(rules)
    ;[rules] = Machine.step(rules, frame, patience)
    if (rules.verdict !== null) return rules.verdict
  }
  return { verdict: "not_sure" as const, atMs: Machine.limits.total }
}

/** Of a greeting in one breath: what people at work say takes less. */
const { machineGreeting } = Machine.limits

const tried = [...heard].flatMap(([options, clips]) =>
  [2500, 3000, 3500, 4000].flatMap((pausedGreeting) =>
    [600, 800, 1000].flatMap((short) =>
      [800, 900, 1000].flatMap((first) =>
        [1200, 1400, 1600].flatMap((second) =>
          [1600, 1800, 2000].map((third) => {
            const waits = [
              { greeting: short, silence: first },
              { greeting: 1800, silence: second },
              { greeting: Number.POSITIVE_INFINITY, silence: third }
            ]
            let [people, machines, ms] = [0, 0, 0]
            for (const clip of clips) {
              const { atMs, verdict } = verdictOf(clip, { machineGreeting, pausedGreeting, waits })
              const result = Trial.results[verdict]
              ms += atMs / clips.length
              if (result === clip.clip.truth) continue
              if (clip.clip.truth === "human") people += result === "machine" ? 5 : 1
              else machines++
            }
            return { cost: people + machines, people, machines, ms, options, pausedGreeting, waits }
          })
        )
      )
    )
  )
)

for (const { cost, machines, ms, options, pausedGreeting, people, waits } of tried
  .toSorted((one, other) => one.cost - other.cost || one.ms - other.ms)
  .slice(0, 20))
  console.log(
    `cost ${cost} (people ${people}, machines ${machines}), mean ${Math.round(ms)} ms: greeting ${machineGreeting}, with pauses ` +
      `${pausedGreeting}, waits ` +
      `${waits.map(({ greeting, silence }) => `${silence} below ${greeting}`).join(", ")}; onset ${options.onsetMs}, ` +
      `range ${options.rangeDb}`
  )
