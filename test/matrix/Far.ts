/**
 * The far end of a call, which does what a row tells it. Behind the simulated carrier it is another tenant's call on a
 * joined leg, behind SIP a user agent with a socket for its RTP.
 */
export interface Far {
  /** Answers the call that it was offered; the row waits for `call.answered` itself. */
  readonly answer: () => Promise<void>
  /** Refuses it, as busy or for good. */
  readonly refuse: (cause: "user_busy" | "rejected") => Promise<void>
  /** Hangs up, or gives up a call of its own that was not answered. */
  readonly hangUp: () => Promise<void>
  /** Presses digits, one after the other; completes when they are on their way. */
  readonly press: (digits: string) => Promise<void>
  /** Sounds a tone of 500 Hz for so long, and then silence, as a word that is spoken; completes when that begins. */
  readonly say: (ms: number) => Promise<void>
  /** So many digits that were pressed to it. */
  readonly heardDigits: (count: number) => Promise<string>
  /** Completes when it was hung up, or its ringing was given up. */
  readonly gone: () => Promise<void>
}

/** How far ends come to be, on one carrier. */
export interface FarEnds {
  /** A number at which a far end is offered what is placed to it, and then waits. */
  readonly number: string
  /** The far end that was offered the call with this key in its header `X-Row`. */
  readonly offered: (key: string) => Promise<Far>
  /** A far end calls this number of ours, with the key in its header. */
  readonly call: (to: string, key: string) => Promise<Far>
}

export const keyHeader = "X-Row"
