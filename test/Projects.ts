import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * Sorts the test files by what they import. A file belongs to `heap` when it measures the heap, which needs code that
 * no other test has warmed up, to `process` when it or its support starts processes, to `database` when anything that
 * it imports needs Postgres, to `local` when it opens sockets or the code under test starts threads, and to `pure`
 * otherwise.
 */

const root = fileURLToPath(new URL("..", import.meta.url))

export type Project = "pure" | "local" | "database" | "process" | "heap"

const sockets = /^node:(dgram|http|https|net|tls)$/
const threads = /^node:(child_process|worker_threads)$/
const databases = ["test/support/TestDatabase.ts", "src/app/testing/Databases.ts"]

/** Type-only imports load nothing. */
const imported = /^\s*(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"|\bimport\("([^"]+)"\)/gm

const known = new Map<string, ReadonlyArray<string>>()
const importsOf = (file: string): ReadonlyArray<string> => {
  const before = known.get(file)
  if (before !== undefined) return before
  // A test may hold the text of a program, whose imports are no files of ours.
  const text = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : ""
  const found = [...text.matchAll(imported)]
    .map(([, fixed, dynamic]) => fixed ?? dynamic ?? "")
    .map((target) => (target.startsWith(".") ? normalize(join(dirname(file), target)) : target))
    .map((target) => (target === "trunkline/testing" ? "src/app/testing/Trunkline.ts" : target))
  known.set(file, found)
  return found
}

/** All imports of a file, direct or not, through files of ours that are `within`. */
const reached = (file: string, within: RegExp): ReadonlySet<string> => {
  const seen = new Set([file])
  for (const each of seen) if (within.test(each)) for (const target of importsOf(each)) seen.add(target)
  return seen
}

const projectOf = (file: string): Project => {
  const own = [...reached(file, /^(test|scripts)\/.*\.ts$/)]
  if (own.includes("node:v8")) return "heap"
  if (own.includes("node:child_process")) return "process"
  const all = [...reached(file, /^(src|test|scripts)\/.*\.ts$/)]
  if (all.some((each) => databases.includes(each))) return "database"
  return own.some((each) => sockets.test(each)) || all.some((each) => threads.test(each)) ? "local" : "pure"
}

/** The test files of each project. */
export const find = (): Readonly<Record<Project, ReadonlyArray<string>>> => {
  const files = globSync("{test,scripts/examples}/**/*.test.ts", { cwd: root, exclude: ["test/interop/**"] })
  return { pure: [], local: [], database: [], process: [], heap: [], ...Object.groupBy(files.toSorted(), projectOf) }
}
