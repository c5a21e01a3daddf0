import { once } from "node:events"
import { createServer } from "node:https"
import { WebSocketServer } from "ws"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Wav from "../../src/protocol/audio/file/Wav.ts"
import type { Certificate } from "../demo/Certificate.ts"

/** The tenants' side: takes webhooks, serves a sound and a document, and takes media streams. */
export interface Peer {
  /** `127.0.0.1:<port>`. */
  readonly address: string
  /** Bodies of webhooks in the order of their arrival. */
  readonly webhooks: ReadonlyArray<string>
  readonly stop: () => void
}

const tone = (millis: number) =>
  Wav.write({ sampleRate: 8000, samples: Int16Array.from(Tone.sine(660, -12, millis, 8000)) })
/** The first sound outlasts the walk's use of it; the end of the second shows that its call's media flow. */
const sounds: Readonly<{ [url: string]: Uint8Array }> = { "/sound.wav": tone(60_000), "/short.wav": tone(400) }

export const start = async (certificate: Certificate): Promise<Peer> => {
  const webhooks: Array<string> = []
  const server = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.once("end", () => {
      const sound = sounds[request.url ?? ""]
      if (sound !== undefined) {
        response.writeHead(200, { "content-type": "audio/wav" }).end(sound)
      } else if (request.url === "/refuses") {
        response.writeHead(410).end("gone")
      } else if (request.method === "POST") {
        webhooks.push(Buffer.concat(chunks).toString("utf8"))
        response.writeHead(200).end("thanks")
      } else response.writeHead(404).end()
    })
  })
  const sockets = new WebSocketServer({ server })
  server.on("tlsClientError", () => undefined).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return {
    address: `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    webhooks,
    stop: () => {
      sockets.close()
      server.close()
      server.closeAllConnections()
    }
  }
}
