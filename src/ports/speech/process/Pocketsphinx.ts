/** Makes the sound that pocketsphinx takes (0.8, model `en-us`), and reads what it prints with `-time yes`. */
import type { Phrase, Word } from "../Recognition.ts"

/**
 * Converts sound to 16 kHz, little endian. Each sample of 8 kHz is written twice, without a filter, because the model
 * wants energy above 4 kHz, which the mirror image has. Three bits of noise are added, because it does not bear digital
 * silence.
 */
export const sound = (samples: Int16Array, from: 8000 | 16_000): Uint8Array => {
  const times = from === 8000 ? 2 : 1
  const bytes = new Uint8Array(samples.length * times * 2)
  const view = new DataView(bytes.buffer)
  for (let at = 0; at < samples.length * times; at++) {
    noise = (Math.imul(noise, 1_103_515_245) + 12_345) >>> 0
    const sample = (samples[Math.floor(at / times)] ?? 0) + ((noise >>> 16) % 7) - 3
    view.setInt16(2 * at, Math.max(-32_768, Math.min(32_767, sample)), true)
  }
  return bytes
}
let noise = 1

/** A word, its times in seconds and its confidence: `like 1.570 1.890 0.999600`, `to(3) 1.900 2.020 0.496992`. */
const timed = /^(\S+) (\d+\.\d+) (\d+\.\d+) (\d+\.\d+)$/

const isNoise = (word: string): boolean => /^[<[]/.test(word)

const wordOf = ([, word = "", start, end, confidence]: RegExpExecArray): Word => ({
  // A variant of the pronunciation is not part of the word.
  word: word.replace(/\(\d+\)$/, ""),
  startMs: Number(start) * 1000,
  endMs: Number(end) * 1000,
  confidence: Number(confidence)
})

/**
 * Reads the lines that pocketsphinx prints. The words of an utterance follow its text, from `<s>` to `</s>`, which
 * completes the phrase.
 */
export const reader = () => {
  let text: string | null = null
  let words: Array<Word> = []
  return (line: string): Phrase | null => {
    const found = timed.exec(line.trim())
    if (found === null) {
      text = line.trim()
      words = []
      return null
    }
    const word = wordOf(found)
    if (!isNoise(word.word)) words.push(word)
    if (word.word !== "</s>" || text === null) return null
    const known = words.flatMap(({ confidence }) => (confidence === null ? [] : [confidence]))
    const phrase: Phrase = {
      text: words.map((each) => each.word).join(" "),
      confidence: known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0) / known.length,
      startMs: words[0]?.startMs ?? word.startMs,
      endMs: words.at(-1)?.endMs ?? word.endMs,
      words
    }
    text = null
    words = []
    return phrase
  }
}
