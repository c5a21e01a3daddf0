/** The inputs and outputs of the table of transactions (`TransactionTable`). */
import type { Flow } from "../Flow.ts"
import type { SipMessage, SipRequest, SipResponse } from "../message/SipMessage.ts"
import type { FailureReason } from "./Transaction.ts"

/** The key by which the transaction is matched; `clientId` and `serverId` read it from a message. */
export type TransactionId = string

export type Input =
  /** A valid message from the wire. */
  | { readonly type: "received"; readonly message: SipMessage; readonly from: Flow }
  /** Starts a client transaction. */
  | { readonly type: "request"; readonly request: SipRequest; readonly to: Flow }
  /** Answers a server transaction. */
  | { readonly type: "respond"; readonly id: TransactionId; readonly response: SipResponse }
  /** The TU sent a CANCEL for this INVITE as a separate request. */
  | { readonly type: "cancelled"; readonly id: TransactionId }
  /** The last message of this transaction could not be sent. */
  | { readonly type: "transportError"; readonly id: TransactionId }
  /** Resumes, after a restart, an INVITE of ours that is being cancelled; nothing is sent. */
  | { readonly type: "resumeClient"; readonly request: SipRequest; readonly to: Flow }
  /** Resumes, after a restart, an INVITE of theirs, to be answered with `respond`; nothing is reported to the TU. */
  | { readonly type: "resumeServer"; readonly request: SipRequest; readonly from: Flow }

export type Output =
  | { readonly type: "send"; readonly id: TransactionId; readonly to: Flow; readonly message: SipMessage }
  /** Answers, without state, a request of the peer that matched no transaction. */
  | {
      readonly type: "refuse"
      readonly request: SipRequest
      readonly from: Flow
      readonly response: SipResponse
      readonly to: Flow
    }
  /** A new request of the peer, which needs a `respond`. Its top Via is stamped with `from`. */
  | {
      readonly type: "request"
      readonly id: TransactionId
      readonly request: SipRequest
      readonly from: Flow
    }
  /**
   * The peer cancels `invite`, which needs 200 for `id`, and 487 for `invite` unless it had its final response. All of
   * them have one To tag (section 9.2): `toTag` is that of the earlier responses, null when none had one.
   */
  | {
      readonly type: "cancel"
      readonly id: TransactionId
      readonly request: SipRequest
      readonly invite: TransactionId
      readonly toTag: string | null
    }
  /** The ACK of a 2xx, for the dialog. */
  | { readonly type: "ack"; readonly request: SipRequest; readonly from: Flow }
  /** A response to a request of ours: every provisional, the final one, every 2xx to INVITE. */
  | {
      readonly type: "response"
      readonly id: TransactionId
      readonly response: SipResponse
      readonly from: Flow
    }
  /** `timeout` counts as 408, `transport` and `full` as 503 (section 8.1.3.1). `duplicate`: the branch is in use. */
  | {
      readonly type: "failed"
      readonly id: TransactionId
      readonly reason: FailureReason | "full" | "duplicate"
    }
  | { readonly type: "ended"; readonly id: TransactionId }
  /** Nothing was done; the shell counts it. `stray` responses are dropped as RFC 6026 section 7.2 asks. */
  | { readonly type: "dropped"; readonly reason: "malformed" | "stray" | "unknownTransaction" }
