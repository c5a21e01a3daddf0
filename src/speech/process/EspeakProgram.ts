import { writeSync } from "node:fs"
import load from "@echogarden/espeak-ng-emscripten"
import { Result } from "effect"
import * as Message from "./Message.ts"

/**
 * The program that speaks: espeak-ng, compiled to WASM, in a process of its own. It is under the GPL, and whatever becomes
 * of it here touches no call.
 *
 * It says one utterance after the other, and writes what it has said while it goes on. It ends when its standard input
 * does: when the service is gone.
 */

const { eSpeakNGWorker: Worker } = await load()
const worker = new Worker()
/** A process that has grown beyond this ends after an utterance, and is started again. */
const mostBytes = 512 * 1024 * 1024

const post = (message: Message.Told, bytes?: Uint8Array): void => {
  const all = Message.write(message, bytes)
  for (let at = 0; at < all.length;) at += writeSync(1, all, at)
}

/** The engine reads everything as SSML. */
const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const say = ({ id, isSsml, text, voice }: Message.Say): void => {
  worker.set_voice(voice, "", 0, 0, 0)
  worker.synthesize(isSsml ? text : escaped(text), (samples) => {
    if (samples !== null && samples.length > 0)
      post(
        { type: "sound", id, rate: worker.samplerate },
        new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
      )
    return false
  })
  const isLast = process.memoryUsage.rss() > mostBytes
  post({ type: "end", id, isLast })
  if (isLast) process.exit(0)
}

const read = Message.reader()
process.stdin.on("data", (bytes: Buffer) => {
  const messages = read(bytes)
  if (Result.isFailure(messages)) return process.exit(1)
  for (const { message } of messages.success) say(message as Message.Say)
})
process.stdin.on("end", () => process.exit(0))

// The first utterance takes twenty times as long as the others: it is said to nobody.
worker.set_voice("en-us", "", 0, 0, 0)
worker.synthesize("Hello, one, two.", () => false)
post({ type: "ready" })
