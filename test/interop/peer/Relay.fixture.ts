/** Passes the connections of a socket in the file system on to a TCP port of the loopback of this network namespace. */
import { connect, createServer } from "node:net"

const [path = "", port = ""] = process.argv.slice(2)

createServer((socket) => {
  const service = connect(Number(port), "127.0.0.1")
  for (const [one, other] of [
    [socket, service],
    [service, socket]
  ] as const)
    one.on("error", () => other.destroy()).pipe(other)
}).listen(path, () => console.log("ready"))
