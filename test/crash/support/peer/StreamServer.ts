import type { Server } from "node:https"
import { WebSocket, WebSocketServer } from "ws"

/** How the server treats a stream, by the second name in its path (guide/streams.md). */
export const moods = ["echoes", "talks", "listens", "leaves", "babbles"] as const
export type Mood = (typeof moods)[number]

/** The tenants' WebSocket server: hears streams of calls and talks back, each in its mood. */
export interface StreamServer {
  /** Streams that have begun. */
  readonly started: () => number
  /** Media messages of the open stream of this name, the last of its path; null: it is not open. */
  readonly heard: (name: string) => number | null
  /** A line for each message that was not as it must be. */
  readonly violations: ReadonlyArray<string>
  readonly close: () => void
}

interface Message {
  readonly event: string
  readonly sequence_number?: string
  readonly media?: { readonly payload: string }
}

const leavesAfter = 30
const marksEvery = 25
const clearsEvery = 60
const babble = ["no json", "[]", `{"event":"media","media":{"payload":"%%"}}`, `{"event":"what is this"}`]
/** Two seconds of PCMU. */
const speech = Buffer.alloc(16_000, 0xd5).toString("base64")

/** Takes streams at `/stream/<mood>/…` of a server. */
export const attach = (server: Server): StreamServer => {
  const sockets = new WebSocketServer({ server })
  const violations: Array<string> = []
  const open = new Map<string, number>()
  let started = 0

  const serve = (socket: WebSocket, path: string): void => {
    const mood = path.split("/")[2] as Mood
    const name = path.replace(/^.*\//u, "")
    open.set(name, 0)
    const send = (message: object | string): void => {
      if (socket.readyState === WebSocket.OPEN)
        socket.send(typeof message === "string" ? message : JSON.stringify(message))
    }
    let messages = 0
    let media = 0
    let isOver = false

    const hear = (message: Message): void => {
      const nth = messages++
      const wanted = nth === 0 ? "connected" : nth === 1 ? "start" : null
      if (wanted !== null && message.event !== wanted)
        violations.push(`message ${nth} of the stream ${path} is ${message.event}, not ${wanted}`)
      if (nth > 0 && Number(message.sequence_number) !== nth)
        violations.push(`message ${nth} of the stream ${path} has the sequence number ${message.sequence_number}`)
      if (isOver) violations.push(`the stream ${path} goes on behind its stop: ${message.event}`)
      switch (message.event) {
        case "start":
          started++
          if (mood !== "talks") return
          send({ event: "media", media: { payload: speech } })
          return send({ event: "mark", mark: { name: "said" } })
        case "mark":
          return mood === "talks" ? send({ event: "media", media: { payload: speech } }) : undefined
        case "media":
          open.set(name, ++media)
          if (mood === "echoes") {
            send({ event: "media", media: { payload: message.media?.payload } })
            if (media % marksEvery === 0) send({ event: "mark", mark: { name: `${media}` } })
            if (media % clearsEvery === 0) send({ event: "clear" })
          }
          if (mood === "babbles" && media % marksEvery === 0) send(babble[media % babble.length] ?? "")
          if (mood === "leaves" && media === leavesAfter) socket.close()
          return
        case "stop":
          isOver = true
      }
    }

    // A process that is killed sends no closing frame.
    socket.on("error", () => undefined)
    socket.on("close", () => open.delete(name))
    socket.on("message", (data: Buffer) => hear(JSON.parse(data.toString()) as Message))
  }
  sockets.on("connection", (socket, request) => serve(socket, request.url ?? ""))

  return {
    started: () => started,
    heard: (name) => open.get(name) ?? null,
    violations,
    close: () => {
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
    }
  }
}
