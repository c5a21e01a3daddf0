/** The servers that the service reaches for a call: sounds, media streams, and engines for speech and recognition. */
import { once } from "node:events"
import { createServer as createPlain, type IncomingMessage } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { type WebSocket, WebSocketServer } from "ws"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Wav from "../../../src/protocol/audio/file/Wav.ts"
import * as SocketServer from "../../ports/speech/SocketServer.ts"
import type { TestCertificate } from "../../support/network/TestCertificate.ts"
import * as Tape from "./Tape.ts"

type Message = Readonly<Record<string, unknown>> & { readonly event: string }

/** A media stream on its server. */
export interface StreamServer {
  readonly heard: Tape.Tape<Message>
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly send: (message: object) => void
  readonly close: () => void
  readonly closed: () => Promise<void>
}

export interface Servers {
  /** An `https` URL of a tone of this length; other paths are `/missing.wav` (404) and `/garbage.wav`. */
  readonly soundUrl: (path: string) => string
  /** A `wss` URL of a server for this row. */
  readonly streamUrl: (key: string) => string
  readonly stream: (key: string) => Promise<StreamServer>
  readonly speechUrl: string
  /** The texts that the speech engine got. */
  readonly spoken: Tape.Tape<string>
  readonly voskUrl: string
  readonly close: () => void
}

const toneHz = 500

/** Starts servers on loopback; those over TLS use the certificate. */
export const start = async (certificate: TestCertificate): Promise<Servers> => {
  const streams = Tape.make<{ readonly key: string; readonly server: StreamServer }>(({ key }) => key)
  const spoken = Tape.make<string>((said) => said)

  const secure = createServer(certificate, (request, response) => {
    const path = (request.url ?? "").replace(/\?.*/, "")
    const ms = /^\/tone\/([0-9]+)\.wav$/.exec(path)?.[1]
    if (ms !== undefined)
      return response
        .setHeader("content-type", "audio/wav")
        .end(Wav.write({ sampleRate: 8000, samples: Tone.sine(toneHz, -6, Number(ms), 8000) }))
    if (path === "/garbage.wav") return response.end(Buffer.alloc(2000, 7))
    return response.writeHead(404).end()
  })
  const sockets = new WebSocketServer({ noServer: true })
  secure.on("upgrade", (request: IncomingMessage, socket, head) => {
    const { pathname } = new URL(request.url ?? "", "wss://x")
    if (pathname.startsWith("/refused")) return void socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n")
    sockets.handleUpgrade(request, socket, head, (opened: WebSocket) => {
      const heard = Tape.make<Message>(({ event }) => event)
      const closed = once(opened, "close")
      opened.on("message", (data: Buffer) => heard.push(JSON.parse(data.toString()) as Message))
      opened.on("error", () => undefined)
      streams.push({
        key: pathname.split("/").at(-1) ?? "",
        server: {
          heard,
          url: request.url ?? "",
          headers: request.headers,
          send: (message) => opened.send(JSON.stringify(message)),
          close: () => opened.close(),
          closed: async () => void (await closed)
        }
      })
    })
  })

  // Each character is 20 ms of a tone; a text that begins with `fail` is not spoken.
  const speech = createPlain((request, response) => {
    text(request).then(
      (body) => {
        const { input } = JSON.parse(body) as { readonly input: string }
        spoken.push(input)
        if (input.startsWith("fail")) return response.writeHead(500).end()
        return response
          .setHeader("content-type", "audio/pcm")
          .end(Wav.data(Tone.sine(toneHz, -6, 20 * input.length, 24_000)))
      },
      () => response.destroy()
    )
  })
  const vosk = new WebSocketServer({ host: "127.0.0.1", port: 0 })
  vosk.on("connection", (socket, request) => {
    socket.on("error", () => undefined)
    SocketServer.vosk(socket, { url: request.url ?? "", authorization: undefined, texts: [], seconds: () => 0 }, 1)
  })
  secure.listen(0, "127.0.0.1")
  speech.listen(0, "127.0.0.1")
  await Promise.all([once(secure, "listening"), once(speech, "listening"), once(vosk, "listening")])
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port
  return {
    soundUrl: (path) => `https://127.0.0.1:${portOf(secure)}/${path}`,
    streamUrl: (key) => `wss://127.0.0.1:${portOf(secure)}/stream/${key}`,
    stream: async (key) => (await streams.next(`the stream ${key}`, (each) => each.key === key)).server,
    speechUrl: `http://127.0.0.1:${portOf(speech)}`,
    spoken,
    voskUrl: `ws://127.0.0.1:${portOf(vosk)}`,
    close: () => {
      for (const server of [sockets, vosk]) for (const client of server.clients) client.terminate()
      vosk.close()
      for (const server of [secure, speech]) {
        server.closeAllConnections()
        server.close()
      }
    }
  }
}
