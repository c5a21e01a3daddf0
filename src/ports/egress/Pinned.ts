/**
 * Where to connect, already checked: plain data, which crosses a thread.
 *
 * A socket goes to one of `addresses` and resolves nothing itself. Use it at once, because the addresses may change.
 */
export interface Pinned {
  /** IPv4 and IPv6 literals, at least one; each was checked. */
  readonly addresses: ReadonlyArray<string>
  readonly port: number
  /** The name that the certificate must have, and `Host`: a host name, or an IP literal without brackets. */
  readonly host: string
  /** Over TLS. */
  readonly secure: boolean
  /** Path and query. */
  readonly path: string
  /** PEM of authorities that are trusted besides the default roots. */
  readonly authorities: string | null
}
