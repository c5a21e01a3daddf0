import { header, type SipRequest } from "../../../protocol/sip/message/SipMessage.ts"

const utf8 = new TextDecoder()

/**
 * The digit in an INFO, as trunks without RFC 4733 send it: `application/dtmf-relay` (`Signal=5`) or `application/dtmf`
 * (`5`). Null for another body, or when it is none of 0-9, A-D, `*`, `#` (also as their event codes 10, 11).
 */
export const digitOf = (info: SipRequest): string | null => {
  const type = (header(info, "Content-Type") ?? "").split(";", 1)[0]?.trim().toLowerCase()
  if (info.body.length > 256) return null
  const text = utf8.decode(info.body)
  const found =
    type === "application/dtmf-relay"
      ? /^\s*Signal\s*=\s*(\S+)/im.exec(text)?.[1]
      : type === "application/dtmf"
        ? text.trim()
        : ""
  const digit = found === "10" ? "*" : found === "11" ? "#" : (found ?? "").toUpperCase()
  return /^[0-9A-D*#]$/.test(digit) ? digit : null
}
