import { Data } from "effect"
import type { SqlError } from "effect/sql/SqlError"

export class DatabaseUnreachable extends Data.TaggedError("DatabaseUnreachable")<{
  /** The database as messages name it. */
  readonly name: string
  readonly detail: string
}> {
  override get message() {
    return `${this.name} cannot be reached or used: ${this.detail}`
  }
}

/** The errors of Node for a certificate that no known authority has signed. */
const untrusted = [
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  // An authority of the same name has another key.
  "CERT_SIGNATURE_FAILURE"
]

/** Advice for an error that does not pass by itself; null: none is known. */
export const advice = ({ message, reason: { cause } }: SqlError): string | null => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
  const said = `${message} ${cause instanceof Error ? cause.message : ""}`
  if (untrusted.includes(code)) return "name the authority of its certificate in DATABASE_CA_FILE"
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return "write the host as its certificate does, or sslmode=verify-ca with DATABASE_CA_FILE"
  if (code === "CERT_HAS_EXPIRED") return "its certificate must be renewed"
  if (/does not support TLS/.test(said)) return "write sslmode=disable if the way to it is safe"
  if (/no encryption|SSL required|SSL off/i.test(said)) return "it wants TLS: write sslmode=verify-full"
  if (/unsupported startup parameter/.test(said)) return "a pooler refuses it: remove it from the URL"
  if (/No username configured/.test(said)) return "write the user into the URL"
  return null
}

/** The messages of an error and its causes, in one line, with what to do where that is known. */
export const describe = (error: unknown): string => {
  const parts: Array<string> = []
  let help: string | null = null
  for (let at: unknown = error; at instanceof Error && parts.length < 4; at = "reason" in at ? at.reason : at.cause) {
    if (at.message !== "" && !parts.includes(at.message)) parts.push(at.message)
    if (at instanceof Error && "reason" in at) help = advice(at as SqlError)
  }
  const said = parts.join(": ").replaceAll("\n", " ") || String(error)
  return help === null ? said : `${said}: ${help}`
}
