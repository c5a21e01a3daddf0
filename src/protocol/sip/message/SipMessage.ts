/**
 * A SIP message as values, RFC 3261 section 7. `SipParser` reads one from bytes, `SipWriter` writes one.
 *
 * Headers keep their order and repetition; names are in their long canonical form (`Via`, never `v`).
 * Values are unfolded and trimmed, otherwise as received. Bodies are bytes.
 */
export type Header = readonly [name: string, value: string]

export interface SipRequest {
  readonly type: "request"
  readonly method: string
  /** Request-URI as text; `SipUri.parse` reads it. */
  readonly uri: string
  readonly headers: ReadonlyArray<Header>
  readonly body: Uint8Array
}

export interface SipResponse {
  readonly type: "response"
  /** 100 to 699. */
  readonly status: number
  readonly reason: string
  readonly headers: ReadonlyArray<Header>
  readonly body: Uint8Array
}

export type SipMessage = SipRequest | SipResponse

/** The source or the destination of a datagram. `address` is an IP literal. */
export interface Endpoint {
  readonly address: string
  readonly port: number
}

export const emptyBody: Uint8Array = new Uint8Array(0)

/** First value of a header, or `null`. `name` is canonical. */
export const header = (message: SipMessage, name: string): string | null => {
  for (const [key, value] of message.headers) if (key === name) return value
  return null
}

/** Every value of a header in order; a comma-separated header may still hold several in one value. */
export const headers = (message: SipMessage, name: string): ReadonlyArray<string> =>
  message.headers.filter(([key]) => key === name).map(([, value]) => value)
