/**
 * The far end of a call, which a row controls. With the simulated carrier it is another tenant's call on a joined leg,
 * with SIP a user agent with a socket for its RTP.
 */
export interface Far {
  /** Answers the call that it was offered; the row waits for `call.answered` itself. */
  readonly answer: () => Promise<void>
  /** Refuses the call, as busy or for good. */
  readonly refuse: (cause: "user_busy" | "rejected") => Promise<void>
  /** Hangs up, or cancels a call of its own that was not answered. */
  readonly hangUp: () => Promise<void>
  /** Presses digits, one after the other; completes when they are on their way. */
  readonly press: (digits: string) => Promise<void>
  /** Plays a tone of 500 Hz for this time, and then silence, like a spoken word; completes when the silence begins. */
  readonly say: (ms: number) => Promise<void>
  /** The first `count` digits that it received. */
  readonly heardDigits: (count: number) => Promise<string>
  /** Completes when it was hung up, or its ringing was cancelled. */
  readonly gone: () => Promise<void>
}

/** Makes far ends on one carrier. */
export interface FarEnds {
  /** A number at which a far end is offered each placed call, and then waits. */
  readonly number: string
  /** The far end that was offered the call with this key in its header `X-Row`. */
  readonly offered: (key: string) => Promise<Far>
  /** Makes a far end call this number, with the key in its header. */
  readonly call: (to: string, key: string) => Promise<Far>
}

export const keyHeader = "X-Row"
