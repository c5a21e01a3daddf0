import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { ApiError } from "../../../domain/ApiError.ts"
import { envelope } from "../../../domain/ApiError.ts"

/**
 * Answers what Node refuses before there is a request: with the usual envelope and 400, as for every malformed request;
 * then the connection closes. A connection that times out before any of its bytes were read waited for this service and
 * not for its client, so it gets a 503.
 */
const messages: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "the request line and headers are too long",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "the chunk extensions are too long",
  ERR_HTTP_REQUEST_TIMEOUT: "the request did not arrive in time"
}
const malformed = "this is not a well-formed HTTP/1.1 request"

const unread = ApiError.of("service_unavailable", "the service is busy; try again")

const answerTo = ({ code = "" }: NodeJS.ErrnoException, bytesRead: number | undefined) =>
  code === "ERR_HTTP_REQUEST_TIMEOUT" && bytesRead === 0
    ? { status: "503 Service Unavailable", body: envelope(unread) }
    : { status: "400 Bad Request", body: envelope(ApiError.of("invalid_request", messages[code] ?? malformed)) }

const respond = (error: NodeJS.ErrnoException, socket: Duplex & { readonly bytesRead?: number }): void => {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  const { body, status } = answerTo(error, socket.bytesRead)
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy()
  )
}

/** Refuses an HTTP/1.1 request without Host, RFC 9112 section 3.2; true when it was refused. */
export const hostless = (request: IncomingMessage, response: ServerResponse): boolean => {
  if (request.headers.host !== undefined || request.httpVersion !== "1.1") return false
  response.writeHead(400, { "content-type": "application/json", connection: "close" })
  response.end(envelope(ApiError.of("invalid_request", "the Host header is missing")))
  return true
}

export const attach = (server: Server): void => {
  server.on("clientError", respond)
}
