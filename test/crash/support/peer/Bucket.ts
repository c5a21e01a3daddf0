import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** A bucket in memory that takes files and refuses requests that were signed at another time than its own. */
export const start = async () => {
  const objects = new Map<string, number>()
  const state = { isAway: false, refused: 0, away: 0 }
  const server = createServer((request, response) => {
    let bytes = 0
    request.on("data", (chunk: Buffer) => (bytes += chunk.length))
    request.on("end", () => {
      const signedAt = Date.parse(
        String(request.headers["x-amz-date"]).replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z")
      )
      if (state.isAway) {
        state.away++
        return response.writeHead(503).end()
      }
      if (!(Math.abs(signedAt - Date.now()) < 900_000)) {
        state.refused++
        return response.writeHead(403).end("<Error><Code>RequestTimeTooSkewed</Code></Error>")
      }
      if (request.method === "PUT") objects.set(request.url ?? "", bytes)
      return response.writeHead(request.method === "DELETE" ? 204 : 200).end()
    })
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const { port } = server.address() as AddressInfo
  return {
    objects,
    state,
    settings: {
      RECORDING_STORE: `http://127.0.0.1:${port}/bucket`,
      S3_ACCESS_KEY_ID: "me",
      S3_SECRET_ACCESS_KEY: "secret",
      S3_REGION: "here-1"
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
