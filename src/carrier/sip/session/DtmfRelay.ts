import { header, type SipRequest } from "../../../protocol/sip/message/SipMessage.ts"

const utf8 = new TextDecoder()

const longest = 256

/** `Signal=5` on a line of its own, or `d=5` in the form of Nortel; white space, quotes and a colon are seen, too. */
const line = /^[ \t]*(?:Signal|d)[ \t]*[=:][ \t]*"?([^\s",;]+)/im

const ofLines = (text: string): string => line.exec(text)?.[1] ?? ""
const ofLinesOrAlone = (text: string): string => line.exec(text)?.[1] ?? text.trim().split(/\s/, 1)[0] ?? ""

/**
 * The types of body that bring a digit. None is a standard (RFC 6086 section 3 calls them legacy uses): the first is of
 * Cisco, and most peers send it.
 */
const readers: Readonly<Record<string, (text: string) => string>> = {
  "application/dtmf-relay": ofLines,
  "application/dtmf": ofLinesOrAlone,
  "application/vnd.nortelnetworks.digits": ofLines
}

export const types: ReadonlyArray<string> = Object.keys(readers)

/** The digits whose event codes of RFC 4733 have two figures, from 10 on. */
const afterNine = "*#ABCD"

/** The digit in an INFO: 0-9, `*`, `#`, A-D in either case, or the event code of one; null for any other body. */
export const digitOf = (info: SipRequest): string | null => {
  const type = (header(info, "Content-Type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined
  if (read === undefined || info.body.length > longest) return null
  const found = read(utf8.decode(info.body))
  const digit = /^1[0-5]$/.test(found) ? (afterNine[Number(found) - 10] ?? "") : found.toUpperCase()
  return /^[0-9A-D*#]$/.test(digit) ? digit : null
}
