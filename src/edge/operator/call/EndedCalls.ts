import { type Ended } from "../../../telephony/call/Call.ts"

/** What became of the calls that the operator ended, as the operator reads it. */
export const view = ({ ended, refused }: Ended) => ({
  ended_calls: ended,
  calls_that_go_on: refused.map(({ callId, code }) => `${callId} (${code})`)
})

/** Whether none goes on, in an answer that may speak of ended calls. */
export const areOver = (answer: { readonly calls_that_go_on?: ReadonlyArray<string> }): boolean =>
  (answer.calls_that_go_on ?? []).length === 0
