import { Result } from "effect"
import type { Flow } from "./Flow.ts"
import * as Responses from "./message/Responses.ts"
import type { SipRequest } from "./message/SipMessage.ts"
import * as SipWriter from "./message/SipWriter.ts"
import * as Via from "./message/header/Via.ts"

/** An answer that no transaction keeps, RFC 3261 section 8.2.7, and the flow that it takes. */
interface StatelessAnswer {
  readonly bytes: Uint8Array
  readonly to: Flow
}

/**
 * Null for an ACK, which is never answered (section 17), and for a request whose Via is unusable and gives no way back.
 */
export const make = (
  request: SipRequest,
  from: Flow,
  status: number,
  more: Omit<Responses.Options, "toTag">
): StatelessAnswer | null => {
  const stamped = Via.stamped(request, from.remote)
  const via = Via.top(stamped)
  if (request.method === "ACK" || Result.isFailure(via)) return null
  return {
    bytes: SipWriter.write(Responses.stateless(stamped, status, more)),
    to: Via.responseFlow(via.success, from)
  }
}
