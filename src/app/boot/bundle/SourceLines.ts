import { readFileSync } from "node:fs"
import { SourceMap, type SourceMapPayload } from "node:module"

/**
 * Makes the stack traces of a bundle name the lines of the sources. A source map is read for the first stack trace that
 * is shown, because the source maps of Node itself are read at every start, in every thread.
 */

const folder = new URL(".", import.meta.url).href
const place = /(file:\S+\/)([\w-]+\.mjs):(\d+):(\d+)/g
const maps = new Map<string, SourceMap>()

const mapOf = (file: string): SourceMap => {
  const known = maps.get(file)
  if (known !== undefined) return known
  const map = new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`, folder), "utf8")) as SourceMapPayload)
  maps.set(file, map)
  return map
}

const sourceOf = (file: string, line: string, column: string): string | null => {
  try {
    const origin = mapOf(file).findOrigin(Number(line), Number(column))
    if (!("fileName" in origin)) return null
    return `${new URL(origin.fileName, folder).href}:${origin.lineNumber}:${origin.columnNumber}`
  } catch {
    // The folder was deleted meanwhile: the place in the bundle says more than no trace.
    return null
  }
}

Error.prepareStackTrace = (error, frames: ReadonlyArray<{ readonly toString: () => string }>) =>
  `${String(error)}${frames.map((frame) => `\n    at ${frame.toString()}`).join("")}`.replace(
    place,
    (known, where: string, file: string, line: string, column: string) =>
      where === folder ? (sourceOf(file, line, column) ?? known) : known
  )
