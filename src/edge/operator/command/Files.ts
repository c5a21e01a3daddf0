import { readFile } from "node:fs/promises"
import { text as readAll } from "node:stream/consumers"
import { UsageError } from "./CommandLine.ts"

/** The text of a file; `-` is standard input. */
export const text = async (path: string): Promise<string> => {
  try {
    return path === "-" ? await readAll(process.stdin) : await readFile(path, "utf8")
  } catch (cause) {
    throw new UsageError(`cannot read ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** Reads standard input without its last line end. Unlike a flag, it does not show in the list of processes. */
export const stdin = async (): Promise<string> => (await readAll(process.stdin)).replace(/\r?\n$/, "")

/** The first line of a file, so that the newline at its end is not part of the passphrase. */
export const passphrase = async (path: string): Promise<string> => {
  const [line = ""] = (await text(path)).split(/\r?\n/)
  if (line === "") throw new UsageError(`${path} holds no passphrase`)
  return line
}
