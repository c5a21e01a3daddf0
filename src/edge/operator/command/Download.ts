import { createWriteStream } from "node:fs"
import { link, rm, stat } from "node:fs/promises"
import { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"

/** A stream of lines that ended before its last one, which begins with `{"end":true`. */
class CutShort extends Error {}

/** `lines` go into the file compressed; a `file` goes there byte by byte, as long as its head says. */
export type Kind = "lines" | "file"

/**
 * Writes a stream into a new file; the file is complete or not there, and only its owner reads it.
 *
 * Never replaces a file. Fails when the stream breaks, or when lines end without their end line.
 */
export const save = async (
  bytes: ReadableStream<Uint8Array>,
  path: string,
  kind: Kind
): Promise<{ file: string; bytes: number }> => {
  const unfinished = `${path}.unfinished`
  const file = createWriteStream(unfinished, { flags: "wx", mode: 0o600, flush: true })
  try {
    await (kind === "lines" ? pipeline(bytes, ended(), createGzip(), file) : pipeline(bytes, file))
    await link(unfinished, path)
  } finally {
    await rm(unfinished, { force: true })
  }
  return { file: path, bytes: (await stat(path)).size }
}

/** Passes lines on, and fails behind them where the last is not the end line. */
const ended = () => {
  let tail = Buffer.alloc(0)
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      tail = Buffer.concat([tail, chunk]).subarray(-300)
      done(null, chunk)
    },
    flush: (done) => {
      const last = tail.toString("utf8").trimEnd().split("\n").at(-1) ?? ""
      done(last.startsWith('{"end":true') ? null : new CutShort("the service ended the stream half way"))
    }
  })
}
