import { Result } from "effect"
import * as Grammar from "../Grammar.ts"

/** The order of requests in a dialog, RFC 3261 section 20.16. `sequence` is 0 to 2^31 - 1 (section 8.1.1.5). */
export interface CSeq {
  readonly sequence: number
  readonly method: string
}

const maxSequence = 2 ** 31 - 1

/** Fails with the fault. Never throws. */
export const parse = (value: string): Result.Result<CSeq, string> => {
  const match = /^[ \t]*([0-9]+)[ \t]+([^ \t]+)[ \t]*$/.exec(value)
  const sequence = Grammar.decimal(match?.[1] ?? "", 10)
  const method = match?.[2] ?? ""
  return sequence === null || sequence > maxSequence || !Grammar.isToken(method)
    ? Result.fail("malformed CSeq")
    : Result.succeed({ sequence, method })
}
