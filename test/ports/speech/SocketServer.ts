import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { Effect, Result } from "effect"
import { type WebSocket, WebSocketServer } from "ws"
import { OperatorEgress } from "../../../src/ports/egress/OperatorEgress.ts"
import { OperatorTarget } from "../../../src/ports/egress/OperatorTarget.ts"
import * as Bursts from "./Bursts.ts"

export interface Asked {
  readonly url: string
  readonly authorization: string | undefined
  readonly texts: Array<string>
  seconds: () => number
}

/** A server's behavior on a connection. */
export type Behavior = (socket: WebSocket, asked: Asked, count: number) => void

/** A WebSocket server on loopback, and the client of the operator's egress for it. */
export const start = Effect.fnUntraced(function* (behave: Behavior) {
  const connections: Array<Asked> = []
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const listening = new WebSocketServer({ host: "127.0.0.1", port: 0 })
      await once(listening, "listening")
      return listening
    }),
    (listening) =>
      Effect.sync(() => {
        for (const client of listening.clients) client.terminate()
        listening.close()
      })
  )
  server.on("connection", (socket, request) => {
    const asked: Asked = {
      url: request.url ?? "",
      authorization: request.headers.authorization,
      texts: [],
      seconds: () => 0
    }
    connections.push(asked)
    socket.on("message", (data: Buffer, isBinary) => void (isBinary ? null : asked.texts.push(data.toString())))
    behave(socket, asked, connections.length)
  })
  const { port } = server.address() as AddressInfo
  const target = OperatorTarget.configured(`ws://127.0.0.1:${port}`, { plain: true })
  const client = yield* (yield* OperatorEgress).open(Result.getOrThrow(target))
  return { client, connections }
})

const hears = (
  socket: WebSocket,
  asked: Asked,
  rate: () => number,
  say: (burst: Bursts.Burst) => string,
  onText: (text: string, finish: () => void) => void
): void => {
  let bursts: ReturnType<typeof Bursts.make> | null = null
  const ears = () => (bursts ??= Bursts.make(rate()))
  asked.seconds = () => ears().seconds()
  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) for (const burst of ears().hear(data)) socket.send(say(burst))
    else
      onText(data.toString(), () => {
        for (const burst of ears().end()) socket.send(say(burst))
      })
  })
}

/** Behaves like alphacep/vosk-server, with words of bursts. */
export const vosk: Behavior = (socket, asked) => {
  let rate = 8000
  hears(
    socket,
    asked,
    () => rate,
    ({ end, start, word }) => JSON.stringify({ result: [{ word, start, end, conf: 0.9 }], text: word }),
    (text, finish) => {
      if (text.startsWith('{"config"')) rate = JSON.parse(text).config.sample_rate
      if (text !== '{"eof" : 1}') return
      finish()
      socket.send(JSON.stringify({ text: "" }))
      socket.close()
    }
  )
}

/** Behaves like Deepgram. */
export const deepgram: Behavior = (socket, asked) => {
  hears(
    socket,
    asked,
    () => Number(new URL(asked.url, "ws://x").searchParams.get("sample_rate")),
    ({ end, start, word }) =>
      JSON.stringify({
        type: "Results",
        channel_index: [0, 1],
        start,
        duration: end - start,
        is_final: true,
        speech_final: true,
        channel: {
          alternatives: [
            {
              transcript: word,
              confidence: 0.98,
              words: [{ word, punctuated_word: `${word}.`, start, end, confidence: 0.9 }]
            }
          ]
        }
      }),
    (text, finish) => {
      if (JSON.parse(text).type !== "CloseStream") return
      finish()
      socket.send(JSON.stringify({ type: "Metadata", request_id: "r" }))
      socket.close()
    }
  )
}
