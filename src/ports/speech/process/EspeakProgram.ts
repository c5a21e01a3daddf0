import { readSync, writeSync } from "node:fs"
import load from "@echogarden/espeak-ng-emscripten"
import { Result } from "effect"
import * as Message from "./Message.ts"

/**
 * The program that speaks: espeak-ng, compiled to WASM, in a separate process. It is under the GPL, and its failures
 * here affect no call.
 *
 * It speaks one utterance after the other, and writes the sound as it is made. Between two pieces it reads its input,
 * and drops an utterance that is stopped. It ends when its standard input ends, because the service is then gone.
 */

// A supervisor may signal this process with the service, whose live calls are still spoken to.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const)
  process.on(signal, () => undefined)

const { eSpeakNGWorker: Worker } = await load()
const worker = new Worker()
/** A process that has grown beyond this ends after its utterance, and is started again. */
const mostBytes = 512 * 1024 * 1024

const post = (message: Message.Told, bytes?: Uint8Array): void => {
  const all = Message.write(message, bytes)
  for (let at = 0; at < all.length;) at += writeSync(1, all, at)
}

/** The engine reads every text as SSML, so plain text is escaped. */
const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const read = Message.reader()
/** Requests that are not done yet. */
const asked: Array<Message.Asked> = []
const take = (bytes: Uint8Array): void => {
  const messages = read(bytes)
  if (Result.isFailure(messages)) return process.exit(1)
  asked.push(...messages.success.map(({ message }) => message as Message.Asked))
}

const input = Buffer.alloc(64 * 1024)
/** Reads input while speech blocks the event loop. Reading from a pipe of Node does not wait. */
const lookUp = (): void => {
  try {
    const count = readSync(0, input)
    if (count === 0) process.exit(0)
    take(input.subarray(0, count))
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error
  }
}

const say = ({ id, isSsml, text, voice }: Message.Say): void => {
  worker.set_voice(voice, "", 0, 0, 0)
  worker.synthesize(isSsml ? text : escaped(text), (samples) => {
    if (samples !== null && samples.length > 0)
      post(
        { type: "sound", id, rate: worker.samplerate },
        new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
      )
    lookUp()
    return asked.some((other) => other.type === "stop" && other.id === id)
  })
  const isLast = process.memoryUsage.rss() > mostBytes
  post({ type: "end", id, isLast })
  if (isLast) process.exit(0)
}

process.stdin.on("data", (bytes: Buffer) => {
  take(bytes)
  for (let next = asked.shift(); next !== undefined; next = asked.shift()) if (next.type === "say") say(next)
})
process.stdin.on("end", () => process.exit(0))

// The first utterance takes twenty times as long as the others, so this one is thrown away.
worker.set_voice("en-us", "", 0, 0, 0)
worker.synthesize("Hello, one, two.", () => false)
post({ type: "ready" })
