import { createSecureContext, getCACertificates, type SecureContext } from "node:tls"

/** One for each set of authorities that the configuration names: there are few. */
const contexts = new Map<string, SecureContext>()

/**
 * TLS with these authorities (PEM) besides the default roots; `undefined`, which is Node's own, for none. Made once:
 * reading the roots anew for each connection costs more than the handshake.
 */
export const contextOf = (authorities: string | null): SecureContext | undefined => {
  if (authorities === null) return undefined
  const known = contexts.get(authorities)
  if (known !== undefined) return known
  const made = createSecureContext({ ca: [...getCACertificates("default"), authorities] })
  contexts.set(authorities, made)
  return made
}
