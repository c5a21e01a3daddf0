/**
 * A flow is the way that a message took or takes, RFC 5626 section 3.
 *
 * Over UDP it is a pair of addresses with their ports, over any other transport one connection. Requests, responses and
 * the stored data of a call name a flow, so that the sender knows the transport, its timers and our own address.
 */
import type { Endpoint } from "./message/SipMessage.ts"

/** A transport as the `transport` parameter of a URI names it, RFC 3261 section 19.1.1 and RFC 7118. */
export type TransportType = "udp" | "tcp" | "tls" | "ws" | "wss"

export interface Flow {
  readonly transport: TransportType
  /** Our end. Where the transport listens on all addresses of the machine, it is the advertised address. */
  readonly local: Endpoint
  /** Their end. When the connection is gone, a new one is opened to it (RFC 3261 section 18.2.2). */
  readonly remote: Endpoint
  /** Unique among the connections of this process. Null when the transport has none, or none is open yet. */
  readonly connection: string | null
}

/** Whether the transport itself delivers a message or reports its loss, so that no timer repeats messages on it. */
export const isReliable = (flow: Flow): boolean => flow.transport !== "udp"

/** The transport as a Via names it, RFC 3261 section 25.1. */
export const viaToken = (transport: TransportType): string => transport.toUpperCase()

/** Port of a URI or a sent-by without one, RFC 3261 section 19.1.2 and RFC 7118 section 5. */
export const defaultPort = (transport: string): number => ports[transport.toLowerCase()] ?? 5060

const ports: Readonly<Record<string, number>> = { tls: 5061, ws: 80, wss: 443 }
