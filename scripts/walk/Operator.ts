import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Normal } from "./Normal.ts"
import type { Entry } from "./Record.ts"

export interface Operator {
  /** Runs the operator's command line of the checkout and records its output and exit code. */
  readonly run: (...words: ReadonlyArray<string>) => Promise<string>
  readonly entries: ReadonlyArray<Entry>
}

/** Words of the npm script `operator` of a checkout, wherever its entry is. */
const scriptOf = (root: string): ReadonlyArray<string> => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly scripts: { readonly operator: string }
  }
  return scripts.operator.replace(/^exec node /, "").split(" ")
}

/** Columns are as wide as their cells, and durations and sizes vary from run to run, so both are evened out. */
const settled = (text: string): string =>
  text
    .replace(/ {2,}/g, "  ")
    .replace(/-{4,}/g, "----")
    .replace(/\b[\d.,]+ (ms|s|min|bytes|KiB|MiB)\b/g, "<n> $1")

export const make = (
  root: string,
  folder: string,
  environment: Readonly<{ [name: string]: string }>,
  normal: Normal
): Operator => {
  const entries: Array<Entry> = []
  const script = scriptOf(root)
  return {
    entries,
    run: (...words) =>
      new Promise((resolve) => {
        const env = { ...process.env, ...environment }
        const child = execFile(
          process.execPath,
          [...script, ...words],
          { cwd: root, env },
          (failure, stdout, stderr) => {
            const code = failure === null ? 0 : failure.code
            const told = `exit ${code}\n${settled(stdout)}${stderr === "" ? "" : `\nstderr:\n${settled(stderr)}`}`
            const plain = `${entries.length + 1} ${words.join(" ")}`
            entries.push({
              name: normal.aside(plain.replaceAll(folder, "<folder>")),
              text: normal.aside(told.replaceAll(folder, "<folder>"))
            })
            resolve(stdout)
          }
        )
        child.stdin?.end()
      })
  }
}
