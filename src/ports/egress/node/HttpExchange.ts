import type { ClientRequest, IncomingMessage } from "node:http"
import { Effect } from "effect"
import * as Pace from "../../../domain/fair/Pace.ts"
import { type Asked, EgressError, type EgressResponse, type Whole } from "../Egress.ts"
import * as Drains from "./Drains.ts"
import * as NodeFailure from "./NodeFailure.ts"

/** Starts a request. Its body and its end follow. */
export type Start = (asked: Pick<Asked, "method" | "headers">) => ClientRequest

export const headersOf = (response: IncomingMessage): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined) headers[name] = typeof value === "string" ? value : value.join(", ")
  return headers
}

/** The announced length of this answer's body. It is 0 for HEAD, whose answer announces the length of another one. */
export const announced = (response: IncomingMessage, method: Asked["method"]): number =>
  method === "HEAD" ? 0 : Number(response.headers["content-length"] ?? 0)

/** Copies the first `length` bytes of the chunks into new memory. */
const joined = (chunks: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    const wanted = chunk.subarray(0, length - at)
    whole.set(wanted, at)
    at += wanted.length
  }
  return whole
}

/**
 * Sends one request and receives its answer, without redirects.
 *
 * `withinMs` spans queueing, resolution, connection, TLS and the last byte. Interruption and every failure close the
 * connection. When a kept-alive connection turns out to be closed before a byte of an answer, the request is sent once
 * more: the peer may then see it twice, as it may after any lost answer.
 */
export const exchange = (
  start: Start,
  { method, headers, body, maxResponseBytes, pacedFor, truncate }: Whole,
  withinMs: number,
  { drain, pace }: { readonly pace: Pace.Pace; readonly drain: Drains.Drain }
): Effect.Effect<EgressResponse, EgressError> =>
  Effect.callback((resume) => {
    let current: ClientRequest
    let settled = false
    let answered = false
    let sentTwice = false
    /** Completes with the received part of a body that may be cut; null: the body may not be cut, or none has begun. */
    let cut: (() => void) | null = null

    const succeed = (response: EgressResponse) => {
      if (settled) return
      settled = true
      resume(Effect.succeed(response))
    }
    const fail = (error: EgressError) => {
      if (settled) return
      settled = true
      clearTimeout(deadline)
      current.destroy()
      resume(Effect.fail(error))
    }
    const failWith = (reason: EgressError["reason"], detail: string) => fail(new EgressError({ reason, detail }))

    const receive = (response: IncomingMessage) => {
      answered = true
      const chunks: Array<Uint8Array> = []
      let length = 0
      const finish = () =>
        succeed({
          status: response.statusCode ?? 0,
          headers: headersOf(response),
          body: joined(chunks, Math.min(length, maxResponseBytes))
        })
      /** Completes before the body has ended. The rest is dropped. */
      const cutNow = () => {
        if (settled) return
        finish()
        clearTimeout(deadline)
        drain(response)
      }
      if (truncate !== undefined) {
        cut = finish
        const late = setTimeout(cutNow, truncate.afterMs)
        response.once("close", () => clearTimeout(late))
      } else if (announced(response, method) > maxResponseBytes)
        return failWith("too_large", `the answer is longer than ${maxResponseBytes} bytes`)
      const take = (chunk: Uint8Array): void => {
        const capacity = maxResponseBytes - length
        length += chunk.length
        if (capacity > 0) chunks.push(chunk)
        if (length <= maxResponseBytes) return
        if (truncate === undefined) return failWith("too_large", `the answer is longer than ${maxResponseBytes} bytes`)
        cutNow()
      }
      if (pacedFor === undefined) response.on("data", take)
      else Pace.follow(response, (read) => pace.ask(pacedFor, read), take)
      // The connection is back in its pool a moment later, where the caller's next request should find it.
      response.on("end", () => setImmediate(finish))
      response.on("error", (error) => (cut === null ? fail(NodeFailure.fromNode(error)) : cut()))
      response.once("close", () => clearTimeout(deadline))
    }

    const send = () => {
      const request = start({
        method,
        headers: body === undefined ? headers : { ...headers, "content-length": String(Buffer.byteLength(body)) }
      })
      current = request
      request.once("response", receive)
      request.on("error", (error) => {
        if (settled || request !== current) return
        if (request.reusedSocket && !sentTwice && !answered && NodeFailure.isHangup(error)) {
          sentTwice = true
          send()
        } else fail(NodeFailure.fromNode(error))
      })
      request.once("close", () => {
        // A peer that switches protocols without being asked ends without an error.
        if (request === current && !answered) failWith("reset", "the connection was closed without an answer")
      })
      request.end(body)
    }

    // This comes first, because a request that cannot be begun throws here and must leave no timer.
    send()
    const deadline = setTimeout(() => {
      if (cut === null) failWith("timeout", "no complete answer in time")
      else cut()
      current.destroy()
    }, withinMs)
    return Effect.sync(() => {
      settled = true
      clearTimeout(deadline)
      current.destroy()
    })
  })
