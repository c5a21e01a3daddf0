import { Agent, type AgentOptions, type RequestOptions } from "node:https"
import type { Duplex } from "node:stream"

/**
 * Kept-alive TLS connections, pooled by host and port.
 *
 * At most `maxSockets` per destination; requests beyond that wait their turn there, within their own deadlines. Over
 * `maxIdle` open connections in all, one that falls idle is closed instead of kept.
 */
export class Connections extends Agent {
  #open = 0
  readonly #maxIdle: number
  /** Connections that may be used again. */
  #current = new WeakSet<Duplex>()

  constructor(options: AgentOptions & { readonly maxSockets: number; readonly maxIdle: number }) {
    super({ ...options, keepAlive: true, scheduling: "lifo", maxFreeSockets: options.maxSockets })
    this.#maxIdle = options.maxIdle
  }

  /** Every connection has the same TLS options, so the name that Node puts together of all of them can be short. */
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
