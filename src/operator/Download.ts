import { createWriteStream } from "node:fs"
import { link, rm, stat } from "node:fs/promises"
import { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"

/** A stream of lines that ended before its last one, which begins with `{"end":true`. */
class CutShort extends Error {}

/**
 * Writes a stream of lines into a new file, compressed; the file is complete or not there, and only its owner reads it.
 *
 * Never replaces a file. Fails when the stream breaks, or ends without its end line.
 */
export const save = async (
  lines: ReadableStream<Uint8Array>,
  path: string
): Promise<{ file: string; bytes: number }> => {
  const unfinished = `${path}.unfinished`
  let tail = Buffer.alloc(0)
  const watched = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      tail = Buffer.concat([tail, chunk]).subarray(-300)
      done(null, chunk)
    },
    flush: (done) => {
      const last = tail.toString("utf8").trimEnd().split("\n").at(-1) ?? ""
      done(last.startsWith('{"end":true') ? null : new CutShort("the service ended the stream half way"))
    }
  })
  try {
    await pipeline(
      lines,
      watched,
      createGzip(),
      createWriteStream(unfinished, { flags: "wx", mode: 0o600, flush: true })
    )
    await link(unfinished, path)
  } finally {
    await rm(unfinished, { force: true })
  }
  return { file: path, bytes: (await stat(path)).size }
}
