import { createSocket } from "node:dgram"
import { once } from "node:events"
import { Effect, Result } from "effect"
import * as Requests from "../../../src/protocol/sip/message/Requests.ts"
import * as Responses from "../../../src/protocol/sip/message/Responses.ts"
import { header, type SipMessage } from "../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../../src/protocol/sip/message/SipWriter.ts"

/** A trunk on 127.0.0.1 that answers every call at once and every request with 200; another process has its media. */
export const start = (rtpPort: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = createSocket({ type: "udp4", recvBufferSize: 4 * 1024 * 1024 })
      socket.bind(0, "127.0.0.1")
      await once(socket, "listening")
      const { port } = socket.address()
      /** The RTP ports of the service, by Call-ID, in the order of the calls. */
      const ports = new Map<string, number>()
      const body: Requests.Body = {
        type: "application/sdp",
        bytes: new TextEncoder().encode(
          `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${rtpPort} RTP/AVP 0\r\n`
        )
      }
      const contact = `<sip:127.0.0.1:${port}>`
      socket.on("message", (bytes, from) => {
        const message = SipParser.parse(bytes)
        if (Result.isFailure(message) || message.success.type === "response" || message.success.method === "ACK") return
        const send = (answer: SipMessage) => socket.send(SipWriter.write(answer), from.port, "127.0.0.1")
        const request = message.success
        if (request.method !== "INVITE") return send(Responses.make(request, 200, { toTag: "trunk" }))
        const offered = /m=audio ([0-9]+)/.exec(new TextDecoder().decode(request.body))?.[1]
        ports.set(header(request, "Call-ID") ?? "", Number(offered))
        send(Responses.make(request, 200, { toTag: "trunk", contact, body }))
      })
      return { port, ports: () => [...ports.values()], close: () => socket.close() }
    }),
    (trunk) => Effect.sync(trunk.close)
  )
