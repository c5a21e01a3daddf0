/** Limits of a JSON text: how deep arrays and objects may nest, and how many values there may be. */
export interface Bounds {
  readonly depth: number
  readonly values: number
}

/** More than any body of this API needs. Refusing a larger body costs only this scan. */
const bounds: Bounds = { depth: 16, values: 4_096 }

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
/** `[` and `{` differ only in this bit, and so do `]` and `}`. */
const curly = 0x20
const opening = 0x5b | curly
const closing = 0x5d | curly

/**
 * Scans the bytes of a JSON text once, without parsing them. Returns how the text exceeds the bounds, as the words that
 * follow "the body …" in a message; null when it does not, or when it is no JSON, which the decoder refuses. Each
 * opening bracket and each comma counts as a value.
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

/** Finds the end of the text that begins at this quote: the next quote after an even number of backslashes. */
const endOfText = (bytes: Uint8Array, start: number): number => {
  for (let at = bytes.indexOf(quote, start + 1); at !== -1; at = bytes.indexOf(quote, at + 1)) {
    let before = at - 1
    while (before > start && bytes[before] === backslash) before--
    if ((at - 1 - before) % 2 === 0) return at
  }
  return bytes.length
}
