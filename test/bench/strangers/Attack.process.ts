import { createSocket, type Socket } from "node:dgram"
import { once } from "node:events"
import * as Requests from "../../../src/protocol/sip/message/Requests.ts"
import * as SipWriter from "../../../src/protocol/sip/message/SipWriter.ts"
import * as Child from "../load/Child.ts"
import type { Attack, Done, Order } from "./Attack.ts"

const sdp = new TextEncoder().encode(
  "v=0\r\no=- 1 1 IN IP4 127.0.0.9\r\ns=-\r\nc=IN IP4 127.0.0.9\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0 8 101\r\n" +
    "a=rtpmap:101 telephone-event/8000\r\na=sendrecv\r\n"
)

let sent = 0
let timer: NodeJS.Timeout | null = null
let sockets: ReadonlyArray<Socket> = []

/** Writes a message as a scanner does, a new transaction each. */
const message = (method: Attack["method"], serial: number, address: string): Uint8Array =>
  SipWriter.write(
    Requests.make({
      method,
      uri: "sip:+12025550150@127.0.0.1",
      sentBy: `${address}:5060`,
      branch: `z9hG4bK${serial.toString(36)}attack`,
      from: `"scanner" <sip:100@${address}>;tag=${serial.toString(36)}`,
      to: "<sip:+12025550150@127.0.0.1>",
      callId: `${serial}@${address}`,
      cseq: 1,
      contact: `<sip:100@${address}:5060>`,
      headers: [
        ["User-Agent", "friendly-scanner"],
        ["Accept", "application/sdp"]
      ],
      ...(method === "INVITE" ? { body: { type: "application/sdp", bytes: sdp } } : {})
    })
  )

const bound = async (index: number): Promise<Socket> => {
  const socket = createSocket("udp4")
  socket.bind(0, `127.${1 + (index >> 14)}.${(index >> 7) & 127}.${1 + (index & 127)}`)
  await once(socket, "listening")
  socket.on("error", () => undefined)
  return socket
}

const stop = async (): Promise<Done> => {
  if (timer !== null) clearTimeout(timer)
  timer = null
  for (const socket of sockets) socket.close()
  sockets = []
  return { sent }
}

const start = async ({ addresses, method, perSecond, port }: Attack): Promise<Done> => {
  await stop()
  sent = 0
  sockets = await Promise.all(Array.from({ length: addresses }, (_, index) => bound(index)))
  const beganAt = performance.now()
  const round = (): void => {
    const due = ((performance.now() - beganAt) * perSecond) / 1_000
    for (; sent < due; sent++) {
      const socket = sockets[sent % sockets.length]
      socket?.send(message(method, sent, socket.address().address), port, "127.0.0.1")
    }
    timer = setTimeout(round, 2)
  }
  round()
  return { sent }
}

Child.answer((question) => {
  const order = question as Order
  return order.type === "attack" ? start(order) : stop()
})
