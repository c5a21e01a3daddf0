/** A thread that accepts nothing for a while, and passes each connection on to another port afterwards. */
import { connect, createServer } from "node:net"
import { parentPort, workerData } from "node:worker_threads"

const { busyMs, target } = workerData as { readonly busyMs: number; readonly target: number }

const server = createServer((socket) => {
  const onward = connect(target, "127.0.0.1")
  for (const side of [socket, onward]) side.on("error", () => undefined)
  socket.pipe(onward).pipe(socket)
})
server.listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => {
  const address = server.address()
  parentPort?.postMessage(typeof address === "object" ? address?.port : 0, [])
  parentPort?.once("message", () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMs)
  })
})
