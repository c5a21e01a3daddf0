import * as ClientMessage from "./ClientMessage.ts"

/**
 * A long message of a stream's server, which is read in portions, because a megabyte at once would hold the thread for
 * longer than packets can wait.
 *
 * Only strings may be long: sound is one. They are cut out of the text, the rest is parsed, and base64 is decoded a
 * portion at a time. A text whose rest is long is no message.
 */
export type Outcome =
  /** Null: the payload is not base64. */
  | { readonly type: "sound"; readonly bytes: Uint8Array | null }
  | { readonly type: "message"; readonly message: ClientMessage.ClientMessage }

/** A string that is longer than this is cut out. */
const longString = 1024
/** The longest rest, and the most quotation marks inside of strings. */
const longestRest = 16 * 1024
const mostEscapedQuotes = 1000
/** The characters of base64 that are decoded at a time: a multiple of four. */
const portion = 32 * 1024

const quote = 0x22
const backslash = 0x5c

interface Long {
  readonly from: number
  readonly to: number
}

/** Returns the end of the string that begins at `from`; null: it has none, or too many quotation marks are in it. */
const endOfString = (text: Buffer, from: number): number | null => {
  let at = from
  for (let escaped = 0; escaped < mostEscapedQuotes; escaped++) {
    const end = text.indexOf(quote, at)
    if (end === -1) return null
    let slashes = 0
    while (end - slashes > from && text[end - slashes - 1] === backslash && slashes < mostEscapedQuotes) slashes++
    if (slashes % 2 === 0) return end
    at = end + 1
  }
  return null
}

/** Cuts long strings out; each is replaced by a string with its index. Null: the rest is long. */
const cut = (text: Buffer): { readonly rest: string; readonly strings: ReadonlyArray<Long> } | null => {
  const strings: Array<Long> = []
  let rest = ""
  let kept = 0
  let at = 0
  for (;;) {
    const start = text.indexOf(quote, at)
    const end = start === -1 ? text.length : endOfString(text, start + 1)
    if (end === null) return null
    const isLong = start !== -1 && end - start > longString
    const upTo = isLong ? start + 1 : Math.min(end + 1, text.length)
    if (rest.length + upTo - kept > longestRest) return null
    rest += text.toString("utf8", kept, upTo)
    kept = isLong ? end : upTo
    if (isLong) {
      rest += mark(strings.length)
      strings.push({ from: start + 1, to: end })
    }
    if (start === -1) return { rest, strings }
    at = end + 1
  }
}

/** The replacement of a string; its escape is a character that neither base64 nor names of marks have. */
const mark = (index: number): string => `\\u0000${index}`
const indexOf = (value: string): number | null => (value.startsWith("\u0000") ? Number(value.slice(1)) : null)

/** Decodes base64 in a string of JSON, a portion at a time. */
const decoder = (text: Buffer, { from, to }: Long) => {
  const bytes = new Uint8Array(Math.ceil(((to - from) * 3) / 4))
  // A backslash that is escaped would be one of the sound's characters.
  const isEscaped = text.subarray(from, to).includes(backslash)
  let length = 0
  let at = from
  let carried = ""
  let isValid = !text.subarray(from, to).includes("\\\\")

  /** Where the portion ends: never within an escape. */
  const endAt = (): number => {
    const end = Math.min(to, at + portion)
    if (end === to || !isEscaped) return end
    const slash = text.subarray(end - 5, end).indexOf(backslash)
    return slash === -1 ? end : end - 5 + slash
  }

  return {
    /** Null: there is more. */
    next: (): { readonly bytes: Uint8Array | null } | null => {
      if (!isValid) return { bytes: null }
      const end = endAt()
      const written = text.toString("latin1", at, end)
      at = end
      const plain = isEscaped ? unescaped(written) : written
      if (plain === null) return { bytes: null }
      const characters = carried + plain.replace(/\s+/gu, "")
      const isLast = at === to
      const whole = isLast ? characters : characters.slice(0, characters.length - (characters.length % 4))
      carried = characters.slice(whole.length)
      const decoded = ClientMessage.bytesOf(whole)
      isValid = decoded !== null && (isLast || !whole.includes("="))
      if (decoded === null || !isValid) return { bytes: null }
      bytes.set(decoded, length)
      length += decoded.length
      return isLast ? { bytes: bytes.subarray(0, length) } : null
    }
  }
}

/** Null: it is no string of JSON. */
const unescaped = (written: string): string | null => {
  try {
    return String(JSON.parse(`"${written}"`))
  } catch {
    return null
  }
}

export const make = (bytes: Uint8Array) => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let decoding: ReturnType<typeof decoder> | null = null

  const begin = (): Outcome | null => {
    const parts = cut(text)
    const message: ClientMessage.ClientMessage = parts === null ? { type: "malformed" } : ClientMessage.read(parts.rest)
    const long = message.type === "media" ? parts?.strings[indexOf(message.payload) ?? -1] : undefined
    if (long !== undefined) decoding = decoder(text, long)
    if (long !== undefined) return null
    // The name of a mark may not be that long.
    if (message.type === "mark" && indexOf(message.name) !== null)
      return { type: "message", message: { type: "malformed" } }
    return { type: "message", message }
  }

  return {
    /** Does a portion of the work; null: there is more. */
    next: (): Outcome | null => {
      if (decoding === null) return begin()
      const done = decoding.next()
      return done === null ? null : { type: "sound", bytes: done.bytes }
    }
  }
}
