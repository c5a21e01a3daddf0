/** Recognition by content: flite's voice `rms` is the caller, at 8 kHz, and Debian's pocketsphinx recognizes it. */
import { expect, it } from "vitest"
import * as Recognized from "./peer/Recognized.ts"

it(
  "understands a caller with a word error rate under 30 %, with the times of the words",
  { timeout: 60_000 },
  async () => {
    const pause = new Int16Array(8_000)
    const sound = Recognized.sentences
      .flatMap((text) => [pause, Recognized.narrow(Recognized.spoken(text))])
      .concat(pause)
    const phrases = await Recognized.phrasesIn(sound, 8000)
    const heard = phrases.flatMap(({ text }) => text.split(" "))
    expect(Recognized.wordErrorRate(Recognized.sentences.join(" ").split(" "), heard)).toBeLessThan(0.3)
    const first = phrases[0]
    expect(first?.startMs).toBeGreaterThan(800)
    expect(first?.words.length).toBe(first?.text.split(" ").length)
  }
)
