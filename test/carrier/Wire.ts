import { Effect, Exit } from "effect"
import { once } from "node:events"
import { connect, createServer, type Server, type Socket } from "node:net"

/**
 * Requests and answers as JSON lines over a TCP connection that may be cut at any moment: both sides ask, and requests
 * that are open when it is cut fail with `cut`.
 */
export interface Wire {
  readonly ask: (method: string, body: unknown) => Effect.Effect<unknown, "cut">
  readonly cut: () => void
  /** The number of requests without an answer yet. */
  readonly open: () => number
}

export type Answer = (method: string, body: unknown) => Effect.Effect<unknown>

/** Starts a fiber, on the clock of the test. */
type Run = (effect: Effect.Effect<void>) => unknown

interface Line {
  readonly id: number
  readonly method?: string
  readonly body: unknown
}

/** `gone` is called once, when the connection is gone. */
export const over = (socket: Socket, run: Run, answer: Answer, gone: () => void): Wire => {
  const asked = new Map<number, (exit: Exit.Exit<unknown, "cut">) => void>()
  let ids = 0
  let rest = ""
  const write = (line: Line) => void (socket.destroyed || socket.write(`${JSON.stringify(line)}\n`))
  const read = (text: string): void => {
    const { body, id, method } = JSON.parse(text) as Line
    if (method !== undefined) {
      run(Effect.map(answer(method, body), (answered) => write({ id, body: answered ?? null })))
      return
    }
    asked.get(id)?.(Exit.succeed(body))
    asked.delete(id)
  }
  socket.setNoDelay(true)
  socket.setEncoding("utf8")
  socket.on("data", (text: string) => {
    const lines = (rest + text).split("\n")
    rest = lines.pop() ?? ""
    lines.forEach(read)
  })
  socket.on("error", () => undefined)
  socket.once("close", () => {
    gone()
    for (const settle of asked.values()) settle(Exit.fail("cut"))
    asked.clear()
  })
  return {
    ask: (method, body) =>
      Effect.callback((resume) => {
        if (socket.destroyed) return resume(Effect.fail("cut"))
        const id = ++ids
        asked.set(id, (exit) => resume(exit))
        write({ id, method, body })
        return Effect.sync(() => asked.delete(id))
      }),
    cut: () => void socket.destroy(),
    open: () => asked.size
  }
}

export const listen = Effect.fnUntraced(function* (accept: (socket: Socket) => void) {
  const server: Server = createServer(accept)
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () => Effect.sync(() => server.close())
  )
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
})

export const dial = (port: number): Effect.Effect<Socket> =>
  Effect.promise(async () => {
    const socket = connect(port, "127.0.0.1")
    await once(socket, "connect")
    return socket
  })
