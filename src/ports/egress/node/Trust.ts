import { createSecureContext, getCACertificates, type SecureContext } from "node:tls"

/** One context for each set of authorities in the configuration; there are few. */
const contexts = new Map<string, SecureContext>()

/**
 * The TLS context with these authorities (PEM) besides the default roots; `undefined`, which is Node's own, for none.
 * It is made once, because reading the roots for each connection costs more than the handshake.
 */
export const contextOf = (authorities: string | null): SecureContext | undefined => {
  if (authorities === null) return undefined
  const known = contexts.get(authorities)
  if (known !== undefined) return known
  const made = createSecureContext({ ca: [...getCACertificates("default"), authorities] })
  contexts.set(authorities, made)
  return made
}
