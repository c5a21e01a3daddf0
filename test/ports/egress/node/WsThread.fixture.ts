/** A thread that opens a WebSocket to the destination in its message, and reports the outcome. */
import { parentPort } from "node:worker_threads"
import * as ReadTurns from "../../../../src/ports/egress/node/ReadTurns.ts"
import * as WsClient from "../../../../src/ports/egress/node/WsClient.ts"
import type { Pinned } from "../../../../src/ports/egress/Pinned.ts"
import type { Options } from "../../../../src/ports/egress/WebSocketClient.ts"

parentPort?.once("message", ({ options, pinned }: { readonly pinned: Pinned; readonly options: Options }) => {
  const link = WsClient.make(ReadTurns.make())(pinned, options, {
    onOpen: () => link.send("hello from a thread"),
    onMessage: (message) => {
      parentPort?.postMessage(message, [])
      link.close()
    },
    onClose: (closed) => parentPort?.postMessage(closed, [])
  })
})
