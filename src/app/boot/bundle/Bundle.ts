import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { enableCompileCache } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

/**
 * The program as one file, and each of its threads as another. The service is more than a thousand modules, and Node
 * needs seconds to find, read and strip them one by one; a bundle of them loads in a quarter of that. Bundles are kept
 * in `node_modules/.cache/trunkline`, in a folder for each content of the sources, so none is ever stale.
 */

const root = fileURLToPath(new URL("../../../..", import.meta.url))
const cache = join(root, "node_modules", ".cache", "trunkline")
const makeTimeoutMs = 60_000

/** Lists the files of packages that the last bundle contains. */
export const packageFiles = join(cache, "packages.json")

/** The file of the bundle folder that has this program of the sources. */
export const nameOf = (program: string): string => program.replace(/^.*\/(\w+)\.ts$/, "$1.mjs")

const packagesOf = (): ReadonlyArray<string> => {
  try {
    return JSON.parse(readFileSync(packageFiles, "utf8")) as ReadonlyArray<string>
  } catch {
    return []
  }
}

/** The digest of all sources as they are now. */
export const sources = (): string => {
  const hash = createHash("sha256")
  for (const file of globSync("src/**/*.ts", { cwd: root }).toSorted())
    hash.update(`\n${file}\n`).update(readFileSync(join(root, file)))
  return hash.digest("hex")
}

/** The folder for sources of this digest. A package is known by the sizes and times of its files. */
export const folder = (digest: string = sources()): string => {
  const hash = createHash("sha256").update(process.version).update(digest)
  for (const file of packagesOf()) {
    const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0 }
    hash.update(`\n${file} ${size} ${mtimeMs}`)
  }
  return join(cache, hash.digest("hex").slice(0, 32))
}

/** A debugger and `node --watch` need to see the sources themselves. */
const needsSources = (): boolean =>
  "WATCH_REPORT_DEPENDENCIES" in process.env || process.execArgv.some((option) => /^--(inspect|watch)/.test(option))

/**
 * The bundle of a program of the sources, made now if there is none. It is made in a process of its own, whose memory
 * goes with it. The program itself, where no bundle can be made: the folder is read-only, or the bundler does not run
 * on this platform.
 */
export const find = (program: URL): URL => {
  if (needsSources()) return program
  const bundle = () => join(folder(), nameOf(program.pathname))
  const found = bundle()
  if (existsSync(found)) return compiled(found)
  const bundler = fileURLToPath(new URL("./Bundler.ts", import.meta.url))
  spawnSync(process.execPath, ["--disable-sigusr1", bundler, fileURLToPath(program)], {
    stdio: "ignore",
    timeout: makeTimeoutMs
  })
  const made = bundle()
  return existsSync(made) ? compiled(made) : program
}

/** V8 keeps the code that it compiles beside the bundle, which makes the next start a quarter of a second faster. */
const compiled = (bundle: string): URL => {
  enableCompileCache(join(dirname(bundle), "compiled"))
  return pathToFileURL(bundle)
}
