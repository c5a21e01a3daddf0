import { createSocket } from "node:dgram"
import { once } from "node:events"
import { createServer } from "node:net"

/**
 * Ports of loopback that are free now. They are the same for every start of one service, because its peers know them.
 */
export interface FreePorts {
  readonly http: number
  readonly operator: number
  readonly sip: number
}

const portOf = (address: string | { readonly port: number } | null): number =>
  typeof address === "object" && address !== null ? address.port : 0

const tcp = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const port = portOf(server.address())
  server.close()
  await once(server, "close")
  return port
}

export const udp = async (): Promise<number> => {
  const socket = createSocket("udp4").bind(0, "127.0.0.1")
  await once(socket, "listening")
  const { port } = socket.address()
  socket.close()
  await once(socket, "close")
  return port
}

export const find = async (): Promise<FreePorts> => ({ http: await tcp(), operator: await tcp(), sip: await udp() })
