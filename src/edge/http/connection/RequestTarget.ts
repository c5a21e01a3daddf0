/**
 * Rewrites a request target to the only spelling that routes, checks and idempotency see, RFC 9112 section 3.2: origin
 * form, with `;` and `#` percent-encoded in the path (the router would cut there) and no unreserved character
 * percent-encoded (RFC 3986 section 6.2.2.2). Two spellings of one path become one; the query stays unchanged.
 */
export const normalize = (target: string): string => {
  if (target.startsWith("/") && !odd.test(target)) return target
  const rest = target.replace(authority, "")
  const path = pathOf(rest)
  return (path === "" && rest !== target ? "/" : path).replace(spelled, spelling) + rest.slice(path.length)
}

/** The path without the query. */
export const pathOf = (target: string): string => {
  const end = target.indexOf("?")
  return end === -1 ? target : target.slice(0, end)
}

const odd = /[;#%]/

/** The beginning of the absolute form, which every server accepts (RFC 9112 section 3.2.2). */
const authority = /^https?:\/\/[^/?#]*/i

const spelled = /[;#]|%[0-9a-f]{2}/gi
const unreserved = /[A-Za-z0-9\-._~]/

const spelling = (text: string): string => {
  if (text === ";") return "%3B"
  if (text === "#") return "%23"
  const character = String.fromCharCode(Number.parseInt(text.slice(1), 16))
  return unreserved.test(character) ? character : text.toUpperCase()
}
