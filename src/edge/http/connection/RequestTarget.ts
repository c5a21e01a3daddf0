/**
 * The request target in the one spelling that routes, checks and idempotency see, RFC 9112 section 3.2: origin form, and
 * a path in which `;` and `#` are characters like any other (the router would cut there) and no unreserved character is
 * percent-encoded (RFC 3986 section 6.2.2.2). Two spellings of one path are one path; the query stays as it is.
 */
export const normalize = (target: string): string => {
  if (target.startsWith("/") && !odd.test(target)) return target
  const rest = target.replace(authority, "")
  const path = pathOf(rest)
  return (path === "" && rest !== target ? "/" : path).replace(spelled, spelling) + rest.slice(path.length)
}

/** Without the query. */
export const pathOf = (target: string): string => {
  const end = target.indexOf("?")
  return end === -1 ? target : target.slice(0, end)
}

const odd = /[;#%]/

/** Of the absolute form, which every server accepts (RFC 9112 section 3.2.2). */
const authority = /^https?:\/\/[^/?#]*/i

const spelled = /[;#]|%[0-9a-f]{2}/gi
const unreserved = /[A-Za-z0-9\-._~]/

const spelling = (text: string): string => {
  if (text === ";") return "%3B"
  if (text === "#") return "%23"
  const character = String.fromCharCode(Number.parseInt(text.slice(1), 16))
  return unreserved.test(character) ? character : text.toUpperCase()
}
