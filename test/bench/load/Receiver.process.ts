import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import type { CallId } from "../../../src/domain/Id.ts"
import * as Child from "./Child.ts"
import type { Arrival, Question } from "./Receiver.ts"

/** A webhook receiver that notes when each request had arrived with its body, and answers 200 at once. */
let arrivals: Array<Arrival> = []

const listen = (certificate: { readonly cert: string; readonly key: string }): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer(certificate, (request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const atNanos = process.hrtime.bigint()
        response.end()
        const { data, sequence } = JSON.parse(Buffer.concat(chunks).toString()) as {
          readonly sequence: number
          readonly data: { readonly call_id: CallId }
        }
        arrivals.push({ callId: data.call_id, sequence, atNanos })
      })
    })
    server.keepAliveTimeout = 65_000
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port))
  })

const serve = async (question: Question): Promise<number | ReadonlyArray<Arrival>> => {
  if (question.type === "listen") return listen(question)
  const taken = arrivals
  arrivals = []
  return taken
}

Child.answer((question) => serve(question as Question))
