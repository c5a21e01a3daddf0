/**
 * The identity of a dial on the wire, derived from its command. So another process that knows the command can cancel
 * the INVITE (RFC 3261 section 9.1: same Call-ID, From tag, CSeq and branch).
 *
 * It is derived by SHA-256, so a peer that sees it learns neither the original id nor the branch of the next attempt.
 */
import { hash } from "node:crypto"
import type { CommandId } from "../../../../domain/Id.ts"
import * as Via from "../../../../protocol/sip/message/header/Via.ts"

export interface DialIdentity {
  readonly callId: string
  readonly fromTag: string
  /** The branch of the nth INVITE: 0 without credentials, 1 after the first challenge, and so on. */
  readonly branch: (attempt: number) => string
  /** The decimal `sess-id` of our SDP. */
  readonly sessionId: string
}

const digest = (dialId: CommandId, part: string): string => hash("sha256", `sip\u0000${part}\u0000${dialId}`, "hex")

export const of = (dialId: CommandId): DialIdentity => ({
  callId: digest(dialId, "call-id").slice(0, 32),
  fromTag: digest(dialId, "from-tag").slice(0, 16),
  branch: (attempt) => `${Via.magicCookie}${digest(dialId, `branch ${attempt}`).slice(0, 32)}`,
  sessionId: String(Number.parseInt(digest(dialId, "session").slice(0, 12), 16))
})
