/**
 * A destination that was checked: plain data, which can be passed to another thread.
 *
 * A socket connects to one of `addresses` and resolves nothing itself. Use it at once, because the addresses may
 * change.
 */
export interface Pinned {
  /** At least one IPv4 or IPv6 literal; each was checked. */
  readonly addresses: ReadonlyArray<string>
  readonly port: number
  /** The name in the certificate and in `Host`: a host name, or an IP literal without brackets. */
  readonly host: string
  readonly secure: boolean
  /** The path with the query. */
  readonly path: string
  /** The certificate authorities that are trusted besides the default roots, as PEM. */
  readonly authorities: string | null
}

/**
 * How long one of several addresses may take to connect before the next is tried; the last one has the whole rest of
 * the time limit. Node gives each 250 ms, in which a far host does not answer, and one whose first packet is lost
 * answers after a second.
 */
export const addressMs = 2_500
