import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { Effect } from "effect"

/** A TCP relay whose network can fail: connections die, or answers are lost while requests still arrive. */
export const make = Effect.fnUntraced(function* (target: { readonly host: string; readonly port: number }) {
  const pairs = new Set<readonly [Socket, Socket]>()
  let up = true
  let answers = true
  const server = createServer((client) => {
    if (!up) return void client.destroy()
    const upstream = connect(target)
    const pair = [client, upstream] as const
    pairs.add(pair)
    const close = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of pair) socket.on("error", close).on("close", close)
    client.on("data", (bytes) => upstream.write(bytes))
    upstream.on("data", (bytes) => void (answers && client.write(bytes)))
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () =>
      Effect.sync(() => {
        for (const pair of pairs) for (const socket of pair) socket.destroy()
        server.close()
      })
  )
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    /** Every connection dies, new ones are refused. */
    cut: () => {
      up = false
      for (const pair of pairs) for (const socket of pair) socket.destroy()
    },
    /** What is sent arrives, nothing comes back. */
    swallowAnswers: () => {
      answers = false
    },
    restore: () => {
      up = true
      answers = true
    }
  }
})
