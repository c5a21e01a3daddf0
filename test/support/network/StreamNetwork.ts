/** A network of connections in memory: a transport that delivers what it took, in order, or reports that it did not. */
import type * as Transports from "../../../src/carrier/sip/transport/Transports.ts"
import type { Flow } from "../../../src/protocol/sip/Flow.ts"
import type { Endpoint } from "../../../src/protocol/sip/message/SipMessage.ts"

/** The bytes that one end wrote on a connection. */
export interface Written {
  readonly connection: string
  readonly from: Endpoint
  readonly text: string
}

interface Connection {
  readonly id: string
  /** Receivers by the address of their end. */
  readonly ends: ReadonlyMap<string, (bytes: Uint8Array) => void>
  open: boolean
}

export interface StreamNetwork {
  /** A listener at this address. */
  readonly listen: (local: Endpoint) => Transports.Transport
  /** Everything written since the last look, taken out. */
  readonly written: () => ReadonlyArray<Written>
  /** Connections opened so far. */
  readonly opened: () => number
  /** Every connection is cut. */
  readonly cut: () => void
}

const key = ({ address, port }: Endpoint): string => `${address} ${port}`

export const make = (type: "tcp" | "tls" = "tcp"): StreamNetwork => {
  const listeners = new Map<string, (flow: Flow) => (bytes: Uint8Array) => void>()
  const connections = new Map<string, Connection>()
  const written: Array<Written> = []
  let opened = 0

  const listen = (local: Endpoint): Transports.Transport => {
    let receiver: Transports.Receiver = () => undefined
    listeners.set(key(local), (flow) => (bytes) => receiver(bytes, flow))

    /** Connects from a port of the system's choice, as a client does. */
    const connect = (remote: Endpoint): Connection | null => {
      const accept = listeners.get(key(remote))
      if (accept === undefined) return null
      opened++
      const id = `c${opened}`
      const ephemeral = { address: local.address, port: 40_000 + opened }
      const connection: Connection = {
        id,
        open: true,
        ends: new Map([
          [key(remote), accept({ transport: type, local: remote, remote: ephemeral, connection: id })],
          [key(local), (bytes: Uint8Array) => receiver(bytes, { transport: type, local, remote, connection: id })]
        ])
      }
      connections.set(id, connection)
      return connection
    }

    const standing = (remote: Endpoint): Connection | undefined =>
      [...connections.values()].find(({ ends, open }) => open && ends.has(key(remote)) && ends.has(key(local)))

    return {
      type,
      localTo: () => local,
      announcedTo: () => local,
      open: (remote) => ({ transport: type, local, remote, connection: standing(remote)?.id ?? null }),
      send: (bytes, { connection: id, remote }, refused) => {
        const known = connections.get(id ?? "")
        const connection = known?.open === true ? known : (standing(remote) ?? connect(remote))
        if (connection === null) return queueMicrotask(refused)
        written.push({ connection: connection.id, from: local, text: new TextDecoder().decode(bytes) })
        for (const [end, deliver] of connection.ends) if (end !== key(local)) queueMicrotask(() => deliver(bytes))
      },
      receive: (next) => {
        receiver = next
      }
    }
  }

  return {
    listen,
    written: () => written.splice(0),
    opened: () => opened,
    cut: () => {
      for (const connection of connections.values()) connection.open = false
    }
  }
}
