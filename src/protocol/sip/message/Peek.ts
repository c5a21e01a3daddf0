/**
 * What can be told of a datagram without parsing it: enough to drop most of a flood for next to nothing.
 */

/** A Call-ID further behind than this is not found: senders put it among the first headers. */
const peeked = 2_048

const latin1 = new TextDecoder("latin1")
const callIdHeader = /\n(?:call-id|i)[ \t]*:[ \t]*([^\r\n]*)/i

/** The value of Call-ID, RFC 3261 section 20.8, whatever else the message holds; null: none was found. */
export const callId = (bytes: Uint8Array): string | null =>
  callIdHeader.exec(latin1.decode(bytes.subarray(0, peeked)))?.[1]?.trimEnd() ?? null

/** Whether it could be SIP at all: a method or `SIP/2.0` comes first, and nothing else begins with a letter. */
export const isText = (bytes: Uint8Array): boolean => {
  const first = (bytes[0] ?? 0) | 0x20
  return first >= 0x61 && first <= 0x7a
}
