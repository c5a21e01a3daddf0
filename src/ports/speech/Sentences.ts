/** The longest part of a text that an engine gets at once, in characters: about 15 seconds of speech. */
const most = 240
/** A part does not end before this length without need, so that short sentences stay together. */
const enough = 60

/** A sentence ends with its punctuation, closing quotes and brackets, and a space, so never in "1.5" or "3,14". */
const sentenceEnd = /[.!?…]+["'”’)\]]*\s+|[。！？]+\s*|\n+\s*/gu
const clauseEnd = /[,;:–—]\s+|[，、；：]\s*/gu
const wordEnd = /\s+/gu

/** The last position, up to `limit`, at which the pattern ends in the text; 0 when there is none. */
const lastEnd = (text: string, pattern: RegExp, limit: number): number => {
  let last = 0
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length
    if (end > limit) break
    last = end
  }
  return last
}

const firstEnd = (text: string, pattern: RegExp, from: number): number => {
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length
    if (end >= from) return end
  }
  return text.length
}

/** Cuts between two characters, not between the halves of a surrogate pair. */
const hardCut = (text: string): number => (/[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most)

const cutOf = (text: string): number => {
  const sentence = firstEnd(text, sentenceEnd, enough)
  if (sentence <= most) return sentence
  return (
    lastEnd(text, sentenceEnd, most) || lastEnd(text, clauseEnd, most) || lastEnd(text, wordEnd, most) || hardCut(text)
  )
}

/**
 * Splits a text into parts of at most 240 characters, which are spoken one after the other. It cuts between sentences,
 * else between clauses, else between words, never inside a number. Together the parts are the whole text, except for
 * space at their ends.
 */
export const split = (text: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  for (let rest = text.trim(); rest !== "";) {
    const cut = cutOf(rest)
    parts.push(rest.slice(0, cut).trim())
    rest = rest.slice(cut).trim()
  }
  return parts
}
