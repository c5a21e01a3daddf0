/** What a JSON text may be made of: how deep arrays and objects stand in each other, and how many values there are. */
export interface Bounds {
  readonly depth: number
  readonly values: number
}

/** More than any body of this API needs; what is beyond costs its reader nothing but this look. */
export const bounds: Bounds = { depth: 16, values: 4_096 }

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
/** `[` and `{` differ in this bit only, and so do `]` and `}`. */
const curly = 0x20
const opening = 0x5b | curly
const closing = 0x5d | curly

/**
 * Says how the bytes of a JSON text go beyond the bounds, in one pass and without reading it as JSON: what follows "the
 * body …" in a sentence. Null: they do not, or it is no JSON, which is the decoder's to refuse. A value is counted for
 * each bracket that opens and each comma.
 */
export const fault = (bytes: Uint8Array, { depth, values }: Bounds = bounds): string | null => {
  let open = 0
  let found = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === quote) {
      at = endOfText(bytes, at)
      continue
    }
    if (byte === comma) found++
    else if ((byte | curly) === opening) {
      found++
      if (++open > depth) return `nests more than ${depth} arrays and objects`
    } else if ((byte | curly) === closing) open--
    if (found > values) return `has more than ${values} values`
  }
  return null
}

/** Where the text that begins at this quote ends: at the next one that no odd number of backslashes stands before. */
const endOfText = (bytes: Uint8Array, begin: number): number => {
  for (let at = bytes.indexOf(quote, begin + 1); at !== -1; at = bytes.indexOf(quote, at + 1)) {
    let before = at - 1
    while (before > begin && bytes[before] === backslash) before--
    if ((at - 1 - before) % 2 === 0) return at
  }
  return bytes.length
}
