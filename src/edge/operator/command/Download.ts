import { createWriteStream } from "node:fs"
import { link, rm, stat } from "node:fs/promises"
import { Transform } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"

/** A stream of lines ended before its last line, which begins with `{"end":true`. */
class CutShort extends Error {}

/** The file exists, or a download into it is under way or was cut off. */
class FileExists extends Error {
  constructor(path: string, options?: ErrorOptions) {
    super(`${path} exists already and is not replaced: name another file, or remove that one`, options)
  }
}

/** Fails when `save` could not make this file, so that nothing is asked of the service in vain. */
export const isFree = async (path: string): Promise<void> => {
  for (const each of [path, unfinishedOf(path)])
    if (
      await stat(each).then(
        () => true,
        () => false
      )
    )
      throw new FileExists(each)
}

const unfinishedOf = (path: string): string => `${path}.unfinished`

const isThere = (cause: unknown): boolean => cause instanceof Error && "code" in cause && cause.code === "EEXIST"

/** `lines` are compressed. The bytes of a `file` are stored unchanged, as many as its head announces. */
export type Kind = "lines" | "file"

/**
 * Writes a stream into a new file, which only its owner can read. An incomplete file is removed.
 *
 * It never replaces a file. It fails when the stream breaks, or when lines end without their end line.
 */
export const save = async (
  bytes: ReadableStream<Uint8Array>,
  path: string,
  kind: Kind
): Promise<{ file: string; bytes: number }> => {
  const unfinished = unfinishedOf(path)
  const file = createWriteStream(unfinished, { flags: "wx", mode: 0o600, flush: true })
  try {
    await (kind === "lines" ? pipeline(bytes, ended(), createGzip(), file) : pipeline(bytes, file))
    await link(unfinished, path).catch((cause: unknown) => {
      throw isThere(cause) ? new FileExists(path, { cause }) : cause
    })
  } finally {
    await rm(unfinished, { force: true })
  }
  return { file: path, bytes: (await stat(path)).size }
}

/** Passes lines on, and fails at the end when the last one is not the end line. */
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
