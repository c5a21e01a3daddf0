import { type Ended } from "../../../telephony/call/Call.ts"

export const view = ({ ended, refused }: Ended) => ({
  ended_calls: ended,
  calls_that_go_on: refused.map(({ callId, code }) => `${callId} (${code})`)
})

/** True unless the answer lists calls that could not be ended. Not every answer lists calls. */
export const areOver = (answer: { readonly calls_that_go_on?: ReadonlyArray<string> }): boolean =>
  (answer.calls_that_go_on ?? []).length === 0
