import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Commit, type Journal } from "../../../src/runtime/store/journal/Journal.ts"
import * as SampleCommit from "../SampleCommit.ts"

/**
 * The least that durability costs: `node:http`, `JSON.parse`, the same rows through the same writer, and an answer of
 * the same size. It has no checks, no key, no rules, no actor.
 */
export const start = (journal: Journal["Service"], sample: Commit) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly port: number; readonly stop: () => void }>((resolve) => {
          const body = sample.receipt?.body ?? ""
          const length = Buffer.byteLength(body)
          const server = createServer((request, response) => {
            const chunks: Array<Buffer> = []
            request.on("data", (chunk: Buffer) => chunks.push(chunk))
            request.on("end", () => {
              JSON.parse(Buffer.concat(chunks).toString())
              const { commit } = SampleCommit.copyOf(sample, randomBytes(16).toString("hex"))
              Effect.runFork(
                Effect.map(journal.commit(commit), () => {
                  response.writeHead(201, { "content-type": "application/json", "content-length": length })
                  response.end(body)
                })
              )
            })
          })
          server.listen(0, "127.0.0.1", () =>
            resolve({
              port: (server.address() as AddressInfo).port,
              stop: () => {
                server.close()
                server.closeAllConnections()
              }
            })
          )
        })
    ),
    ({ stop }) => Effect.sync(stop)
  )
