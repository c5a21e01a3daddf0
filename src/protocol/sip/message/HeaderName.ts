import { isToken } from "./Grammar.ts"

/** Header names with their compact forms, RFC 3261 section 20 and the IANA registry. */
const compact: Readonly<Record<string, string>> = {
  a: "Accept-Contact",
  b: "Referred-By",
  c: "Content-Type",
  d: "Request-Disposition",
  e: "Content-Encoding",
  f: "From",
  i: "Call-ID",
  j: "Reject-Contact",
  k: "Supported",
  l: "Content-Length",
  m: "Contact",
  n: "Identity-Info",
  o: "Event",
  r: "Refer-To",
  s: "Subject",
  t: "To",
  u: "Allow-Events",
  v: "Via",
  x: "Session-Expires",
  y: "Identity"
}

const known = [
  "Accept",
  "Accept-Encoding",
  "Accept-Language",
  "Alert-Info",
  "Allow",
  "Authentication-Info",
  "Authorization",
  "Call-Info",
  "Content-Disposition",
  "Content-Language",
  "Content-Transfer-Encoding",
  "CSeq",
  "Date",
  "Diversion",
  "Error-Info",
  "Expires",
  "Feature-Caps",
  "Flow-Timer",
  "Geolocation",
  "History-Info",
  "In-Reply-To",
  "Info-Package",
  "Join",
  "Max-Breadth",
  "Max-Forwards",
  "MIME-Version",
  "Min-Expires",
  "Min-SE",
  "Organization",
  "P-Access-Network-Info",
  "P-Asserted-Identity",
  "P-Charging-Vector",
  "P-Early-Media",
  "P-Preferred-Identity",
  "Path",
  "Priority",
  "Privacy",
  "Proxy-Authenticate",
  "Proxy-Authentication-Info",
  "Proxy-Authorization",
  "Proxy-Require",
  "RAck",
  "Reason",
  "Record-Route",
  "Recv-Info",
  "Remote-Party-ID",
  "Replaces",
  "Reply-To",
  "Require",
  "Resource-Priority",
  "Retry-After",
  "Route",
  "RSeq",
  "Security-Client",
  "Security-Server",
  "Security-Verify",
  "Server",
  "Service-Route",
  "SIP-ETag",
  "SIP-If-Match",
  "Subscription-State",
  "Target-Dialog",
  "Timestamp",
  "Unsupported",
  "User-Agent",
  "User-to-User",
  "Warning",
  "WWW-Authenticate"
]

const byLowerCase = new Map<string, string>()
const bySpelling = new Map<string, string>()
for (const name of [...known, ...Object.values(compact)]) {
  byLowerCase.set(name.toLowerCase(), name)
  bySpelling.set(name, name)
}
for (const [letter, name] of Object.entries(compact)) {
  byLowerCase.set(letter, name)
  bySpelling.set(letter, name)
}

/**
 * The long form in its usual case of a header name as received (`v`, `VIA` give `Via`). An unknown name stays
 * unchanged. `null` when it is not a token.
 */
export const canonical = (name: string): string | null =>
  bySpelling.get(name) ?? byLowerCase.get(name.toLowerCase()) ?? (isToken(name) ? name : null)
