import { randomBytes } from "node:crypto"
import { connect, type Socket } from "node:net"
import * as Child from "./Child.ts"
import type { Load, LoadResult } from "./HttpLoad.ts"

/**
 * A keep-alive client over bare sockets, one request at a time on each. It costs a fraction of the service that it
 * measures. Every request has a new Idempotency-Key.
 */
const run = async (load: Load): Promise<LoadResult> => {
  const prefix = randomBytes(8).toString("hex")
  const latenciesMs = new Float64Array(load.requests)
  let sent = 0
  let answered = 0
  let refused = 0

  const requestText = (index: number): string =>
    `POST /v1/calls HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${load.credential}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(load.body)}\r\n` +
    `Idempotency-Key: ${prefix}-${index}\r\n\r\n${load.body}`

  const one = (socket: Socket): Promise<void> =>
    new Promise((resolve, reject) => {
      let startedAt = 0
      let buffered = ""
      const next = (): void => {
        if (sent >= load.requests) {
          socket.end()
          return resolve()
        }
        startedAt = performance.now()
        socket.write(requestText(sent++))
      }
      socket.on("error", reject)
      socket.on("data", (chunk) => {
        buffered += chunk.toString("latin1")
        const end = buffered.indexOf("\r\n\r\n")
        if (end === -1) return
        const length = Number(/\r\ncontent-length: *(\d+)/i.exec(buffered)?.[1] ?? NaN)
        if (buffered.length < end + 4 + length) return
        if (!buffered.startsWith("HTTP/1.1 201")) refused++
        buffered = ""
        latenciesMs[answered++] = performance.now() - startedAt
        next()
      })
      next()
    })

  const sockets = await Promise.all(
    Array.from(
      { length: load.connections },
      () =>
        new Promise<Socket>((resolve, reject) => {
          const socket = connect({ host: "127.0.0.1", port: load.port, noDelay: true })
          socket.once("error", reject)
          socket.once("connect", () => resolve(socket))
        })
    )
  )
  await Promise.all(sockets.map(one))
  return { latenciesMs: latenciesMs.sort(), refused }
}

Child.answer((load) => run(load as Load))
