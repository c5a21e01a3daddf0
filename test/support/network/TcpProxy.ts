import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { Effect } from "effect"
import * as PostgresMessages from "./PostgresMessages.ts"

/** How a connection to Postgres fails once a certain statement has passed it. */
export interface Loss {
  /** A part of the statement, or of the start of the session. */
  readonly text: string
  /** False: the piece with the text does not arrive. */
  readonly arrives: boolean
  /** `cut`: the connection dies; `silence`: it stays, and no answer comes any more. */
  readonly by: "cut" | "silence"
}

/** How long the server has for what arrived, before its connection is cut. */
const cutAfterMs = 60

export type TcpProxy = Effect.Success<ReturnType<typeof make>>

/**
 * A TCP relay whose network can fail: connections die or are held, or answers are lost while requests still arrive.
 */
export const make = Effect.fnUntraced(function* (target: { readonly host: string; readonly port: number }) {
  const pairs = new Set<readonly [Socket, Socket]>()
  let up = true
  let answers = true
  let held: "everything" | "answers" | null = null
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
    for (const socket of pair) {
      socket.on("error", close).on("close", close)
    }
    if (held === "everything") client.pause()
    if (held !== null) upstream.pause()
    const statementsOf = PostgresMessages.reader()
    /** The loss that has happened to this connection; null: none. */
    let lost: Loss | null = null
    client.on("data", (bytes) => {
      const next = loss
      const statements = statementsOf(bytes)
      if (lost === null && next !== null && statements.some((statement) => statement.includes(next.text))) {
        lost = next
        loss = null
        losses++
        if (lost.by === "cut") setTimeout(close, cutAfterMs)
      }
      if (lost === null || lost.arrives) upstream.write(bytes)
    })
    upstream.on("data", (bytes) => void (answers && lost === null && client.write(bytes)))
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
    /** Requests arrive, answers do not come back. */
    swallowAnswers: () => {
      answers = false
    },
    /** Nothing arrives at the client, or at either side, until `restore`: then everything that was sent arrives. */
    hold: (what: "everything" | "answers") => {
      held = what
      for (const [client, upstream] of pairs) {
        upstream.pause()
        if (what === "everything") client.pause()
      }
    },
    /** The next connection on which the client sends the text fails, once; null: none. */
    lose: (next: Loss | null) => {
      loss = next
    },
    /** How often that has happened. */
    losses: () => losses,
    restore: () => {
      up = true
      answers = true
      if (held === null) return
      held = null
      for (const pair of pairs) for (const socket of pair) socket.resume()
    }
  }
})
