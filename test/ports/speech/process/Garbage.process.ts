import { writeSync } from "node:fs"
import { Result } from "effect"
import * as Message from "../../../../src/ports/speech/process/Message.ts"

/**
 * A program in place of espeak. Its text decides whether it ends, writes garbage, speaks, or speaks for the last time.
 */
const read = Message.reader()
process.stdin.on("data", (bytes: Buffer) => {
  const messages = read(bytes)
  if (Result.isFailure(messages)) return
  for (const { message } of messages.success) {
    const asked = message as Message.Asked
    if (asked.type === "stop") continue
    const { id, text } = asked
    if (text === "exit") process.exit(0)
    if (text === "garbage") {
      writeSync(1, new Uint8Array(64).fill(255))
      continue
    }
    writeSync(1, Message.write({ type: "sound", id, rate: 8000 }, new Uint8Array(1600)))
    const isLast = text === "speak and end"
    writeSync(1, Message.write({ type: "end", id, isLast }))
    // It does not end at once, so that requests in the meantime are lost.
    if (isLast) setTimeout(() => process.exit(0), 200)
  }
})
writeSync(1, Message.write({ type: "ready" }))
