import { Result } from "effect"
import * as Grammar from "./Grammar.ts"
import * as HeaderName from "./HeaderName.ts"
import type { Header } from "./SipMessage.ts"

/** A part of a multipart body, RFC 2046 section 5.1; its body shares memory with the whole. */
interface Part {
  readonly headers: ReadonlyArray<Header>
  readonly body: Uint8Array
}

const maxParts = 16
/** The most bytes of the headers of one part. */
const maxHeadBytes = 4_096

/** Latin-1 gives one character for each byte, so that places in the text are places in the bytes. */
const latin1 = new TextDecoder("latin1")
const utf8 = new TextDecoder()

/**
 * The parts of a body between the delimiters of `boundary`. Text before the first and after the last delimiter is left
 * out. Fails with the fault. Never throws.
 *
 * A lone LF ends a line too. It fails for a malformed boundary, for no part or more than 16, without a final delimiter,
 * and for a part whose headers are too long or malformed.
 */
export const parse = (bytes: Uint8Array, boundary: string): Result.Result<ReadonlyArray<Part>, string> => {
  if (!/^[\x20-\x7e]{0,69}[\x21-\x7e]$/.test(boundary)) return Result.fail("malformed boundary")
  const text = latin1.decode(bytes)
  const parts: Array<Part> = []
  let open = delimiter(text, boundary, 0)
  while (open !== null && !open.isLast) {
    const close = delimiter(text, boundary, open.end)
    if (close === null) return Result.fail("multipart body without end")
    if (parts.length === maxParts) return Result.fail("too many body parts")
    const part = readPart(bytes.subarray(open.end, close.start))
    if (part === null) return Result.fail("malformed body part")
    parts.push(part)
    open = close
  }
  return parts.length === 0 ? Result.fail("multipart body without parts") : Result.succeed(parts)
}

/** The next delimiter line at or after `from`: where the line break before it begins, and where its own ends. */
const delimiter = (
  text: string,
  boundary: string,
  from: number
): { readonly start: number; readonly end: number; readonly isLast: boolean } | null => {
  const dashed = `--${boundary}`
  for (let at = text.indexOf(dashed, from); at !== -1; at = text.indexOf(dashed, at + 1)) {
    // The line break before a delimiter belongs to it, and may also end the line of the previous delimiter.
    if (at !== 0 && text[at - 1] !== "\n") continue
    const start = at === 0 ? 0 : text[at - 2] === "\r" ? at - 2 : at - 1
    let end = at + dashed.length
    const isLast = text.startsWith("--", end)
    if (isLast) return { start, end: end + 2, isLast }
    end = Grammar.skipSpace(text, end)
    if (text[end] === "\r") end++
    if (text[end] === "\n") return { start, end: end + 1, isLast }
  }
  return null
}

const readPart = (bytes: Uint8Array): Part | null => {
  const headers: Array<Header> = []
  let at = 0
  while (at < bytes.length) {
    const lf = bytes.indexOf(0x0a, at)
    if (lf === -1 || lf > maxHeadBytes) return null
    const line = utf8.decode(bytes.subarray(at, lf > at && bytes[lf - 1] === 0x0d ? lf - 1 : lf))
    at = lf + 1
    if (line === "") return { headers, body: bytes.subarray(at) }
    const before = headers.at(-1)
    if (Grammar.isSpaceCode(line.charCodeAt(0)) && before !== undefined) {
      headers[headers.length - 1] = [before[0], `${before[1]} ${Grammar.trimmed(line)}`]
      continue
    }
    const colon = line.indexOf(":")
    const name = colon === -1 ? null : HeaderName.canonical(Grammar.trimmed(line, 0, colon))
    if (name === null) return null
    headers.push([name, Grammar.trimmed(line, colon + 1)])
  }
  // The part consists of headers alone, or is empty.
  return { headers, body: bytes.subarray(bytes.length) }
}
