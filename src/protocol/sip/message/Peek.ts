/** Reads a datagram without parsing it, which is enough to drop most of a flood at almost no cost. */

/** The bytes that are searched for a Call-ID. Senders put it among the first headers. */
const peeked = 2_048

const latin1 = new TextDecoder("latin1")
const callIdHeader = /\n(?:call-id|i)[ \t]*:[ \t]*([^\r\n]*)/i

/** The value of Call-ID, RFC 3261 section 20.8, whatever else the message holds; null when none was found. */
export const callId = (bytes: Uint8Array): string | null =>
  callIdHeader.exec(latin1.decode(bytes.subarray(0, peeked)))?.[1]?.trimEnd() ?? null

/** Whether it could be SIP at all: a message begins with a method or `SIP/2.0`, and so with a letter. */
export const isText = (bytes: Uint8Array): boolean => {
  const first = (bytes[0] ?? 0) | 0x20
  return first >= 0x61 && first <= 0x7a
}
