import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { Effect } from "effect"

/** What becomes of a connection once a certain text has passed it. */
export interface Loss {
  readonly text: string
  /** False: what holds the text does not arrive. */
  readonly arrives: boolean
  /** `cut`: the connection dies; `silence`: it stays, and no answer comes any more. */
  readonly by: "cut" | "silence"
}

/** How long the server has for what arrived, before its connection is cut. */
const cutAfterMs = 60

export type TcpProxy = Effect.Success<ReturnType<typeof make>>

/** A TCP relay whose network can fail: connections die, or answers are lost while requests still arrive. */
export const make = Effect.fnUntraced(function* (target: { readonly host: string; readonly port: number }) {
  const pairs = new Set<readonly [Socket, Socket]>()
  let up = true
  let answers = true
  let loss: Loss | null = null
  let losses = 0
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
    let silent = false
    client.on("data", (bytes) => {
      const lost = loss !== null && bytes.includes(loss.text) ? loss : null
      if (lost !== null) {
        loss = null
        losses++
        silent = true
        if (lost.by === "cut") setTimeout(close, cutAfterMs)
      }
      if (lost === null ? !silent : lost.arrives) upstream.write(bytes)
    })
    upstream.on("data", (bytes) => void (answers && !silent && client.write(bytes)))
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
    /** The next connection on which the client sends the text fails, once. */
    lose: (next: Loss) => {
      loss = next
    },
    /** How often that has happened. */
    losses: () => losses,
    restore: () => {
      up = true
      answers = true
    }
  }
})
