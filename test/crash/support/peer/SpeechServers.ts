import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { setTimeout as delay } from "node:timers/promises"
import { type WebSocket, WebSocketServer } from "ws"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Wav from "../../../../src/protocol/audio/file/Wav.ts"

/**
 * Engines of speech by script, on one port: a synthesizer like OpenAI's, which makes a tone of every text, and a
 * recognizer like Vosk's, which hears a phrase in each second of sound. Now and then one of them fails or hangs, as
 * engines do.
 */
export interface SpeechServers {
  /** The environment of a service that uses them. */
  readonly environment: Readonly<Record<string, string>>
  readonly close: () => void
}

const rate = 8_000
const spokenMs = 600
/** The share of texts and of connections that fail. */
const failing = 0.1
const hanging = 0.05

export const start = async (random: () => number): Promise<SpeechServers> => {
  const tone = Wav.data(Tone.sine(440, -12, spokenMs, rate))
  const half = Math.floor(tone.length / 4) * 2

  const speak = async (response: ServerResponse): Promise<void> => {
    const mood = random()
    if (mood < failing) return void response.writeHead(500).end("out of order")
    if (mood < failing + hanging) return
    response.writeHead(200, { "content-type": "audio/pcm" }).write(tone.subarray(0, half))
    await delay(50)
    response.end(tone.subarray(half))
  }
  const server = createServer((request, response) => {
    text(request).then(
      () => speak(response),
      () => response.destroy()
    )
  })

  const recognize = (socket: WebSocket): void => {
    const mood = random()
    let bytesOfSecond = 2 * rate
    let bytes = 0
    let phrases = 0
    const say = () => {
      const [start, end] = [phrases, phrases + 0.5]
      phrases++
      socket.send(
        JSON.stringify({ result: [{ word: `word${phrases}`, start, end, conf: 0.9 }], text: `word${phrases}` })
      )
    }
    socket.on("error", () => undefined)
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) {
        bytes += data.length
        if (mood < failing && bytes > bytesOfSecond) return socket.terminate()
        const due = mood < failing + hanging ? 0 : Math.floor(bytes / bytesOfSecond) - phrases
        for (let nth = 0; nth < due; nth++) say()
        return
      }
      const message = JSON.parse(data.toString()) as { readonly config?: { readonly sample_rate: number } }
      if (message.config !== undefined) bytesOfSecond = 2 * message.config.sample_rate
      else if (mood >= failing + hanging) {
        say()
        socket.send(JSON.stringify({ text: "" }))
        socket.close()
      }
    })
  }
  const sockets = new WebSocketServer({ server })
  sockets.on("connection", recognize)

  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    environment: {
      TTS_URL: `http://127.0.0.1:${port}/v1`,
      TTS_RATE: String(rate),
      STT_VOSK_URL: `ws://127.0.0.1:${port}`
    },
    close: () => {
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
      server.closeAllConnections()
      server.close()
    }
  }
}
