import { EgressError, type EgressReason } from "../Egress.ts"

const reasons: Readonly<Record<string, EgressReason>> = {
  EBLOCKED: "blocked",
  EDENIED: "blocked",
  ENOTFOUND: "resolve",
  ECONNREFUSED: "connect",
  EHOSTUNREACH: "connect",
  ENETUNREACH: "connect",
  EADDRNOTAVAIL: "connect",
  EACCES: "connect",
  ETIMEDOUT: "connect",
  EMFILE: "connect",
  EPROTO: "tls",
  HPE_HEADER_OVERFLOW: "too_large"
}

/** Node's codes for a certificate that it does not accept are OpenSSL's names, such as `CERT_HAS_EXPIRED`. */
const tls = /^(ERR_TLS|ERR_SSL|CERT_|CRL_|DEPTH_ZERO|UNABLE_TO|SELF_SIGNED|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH)/

const details: Readonly<Record<string, string>> = {
  EBLOCKED: "the host resolves to a private or reserved address",
  EDENIED: "the operator does not allow this target",
  ENOTFOUND: "the host has no address"
}

const codeOf = (error: Error): string => {
  if ("code" in error && typeof error.code === "string") return error.code
  // Several addresses were tried, and the first failure represents all.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return codeOf(error.errors[0])
  return "ECONNRESET"
}

/** Translates a socket or parser error. The detail has codes, never addresses, because tenants read it. */
export const fromNode = (error: Error): EgressError => {
  const code = codeOf(error)
  const early = code === "ECONNRESET" && error.message.includes("before secure TLS connection")
  const reason = reasons[code] ?? (early || tls.test(code) ? "tls" : "reset")
  return new EgressError({ reason, detail: details[code] ?? code })
}

/** True when the peer may just have closed a kept connection while we wrote to it. */
export const isHangup = (error: Error): boolean => ["ECONNRESET", "EPIPE"].includes(codeOf(error))
