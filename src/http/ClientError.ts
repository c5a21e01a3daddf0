import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { rejection } from "../domain/ErrorCatalogue.ts"
import { envelope } from "../domain/Rejected.ts"

/**
 * What node refuses before there is a request: the envelope all the same, then the connection closes. Oversized headers
 * and URLs and what is no HTTP are a 400 like every malformed request, a request that does not arrive in time is a 408.
 */
const answers: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ["400 Bad Request", "the request line and headers are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "the request did not arrive in time"]
}
const malformed = ["400 Bad Request", "this is not a well-formed HTTP/1.1 request"] as const

const respond = (error: NodeJS.ErrnoException, socket: Duplex & { bytesWritten?: number }): void => {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, message] = answers[error.code ?? ""] ?? malformed
  const body = envelope(rejection("invalid_request", message))
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy()
  )
}

/** RFC 9112 section 3.2: a request of HTTP/1.1 without Host is refused. True when it was. */
export const hostless = (request: IncomingMessage, response: ServerResponse): boolean => {
  if (request.headers.host !== undefined || request.httpVersion !== "1.1") return false
  response.writeHead(400, { "content-type": "application/json", connection: "close" })
  response.end(envelope(rejection("invalid_request", "the Host header is missing")))
  return true
}

export const attach = (server: Server): void => {
  server.on("clientError", respond)
}
