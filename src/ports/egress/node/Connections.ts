import { Agent, type AgentOptions, type RequestOptions } from "node:https"
import type { Duplex } from "node:stream"

/**
 * Kept-alive TLS connections, pooled by host and port.
 *
 * There are at most `maxSockets` per destination; further requests wait their turn there, within their own deadlines.
 * With more than `maxIdle` open connections in all, one that becomes idle is closed instead of kept.
 */
export class Connections extends Agent {
  #open = 0
  readonly #maxIdle: number
  /** The connections that may be used again. */
  #current = new WeakSet<Duplex>()

  constructor(options: AgentOptions & { readonly maxSockets: number; readonly maxIdle: number }) {
    super({ ...options, keepAlive: true, scheduling: "lifo", maxFreeSockets: options.maxSockets })
    this.#maxIdle = options.maxIdle
  }

  /** Gives a short name. Node's default lists all TLS options, which are the same for every connection here. */
  override getName(options: RequestOptions = {}): string {
    return `${options.host}:${options.port}`
  }

  override createConnection(...args: Parameters<Agent["createConnection"]>): ReturnType<Agent["createConnection"]> {
    const socket = super.createConnection(...args)
    if (socket) {
      this.#open++
      this.#current.add(socket)
      socket.once("close", () => this.#open--)
    }
    return socket
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return this.#open <= this.#maxIdle && this.#current.has(socket) && Boolean(super.keepSocketAlive(socket))
  }

  /** Closes idle connections, and the others when their request is done. */
  renew(): void {
    this.#current = new WeakSet()
    for (const idle of Object.values(this.freeSockets)) for (const socket of idle ?? []) socket.destroy()
  }
}
