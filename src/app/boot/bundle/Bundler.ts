import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { type Plugin, rolldown } from "rolldown"
import * as Bundle from "./Bundle.ts"

/** The program that makes the bundles of a program and of all threads that it starts: `node Bundler.ts <program>`. */

/** Packages of many small modules. All others are loaded as they are, because they look for files beside themselves. */
const bundled = /\/node_modules\/(@effect|effect|libphonenumber-js|nodemailer|stripe)\//
/** Three megabytes of text gain nothing in a bundle. */
const documentation = /\/httpApiScalar\.js$/

const cache = dirname(Bundle.packageFiles)
const lines = fileURLToPath(new URL("./SourceLines.ts", import.meta.url))
const thread = /new URL\("(\.[^"]+\.ts)", import\.meta\.url\)/g

/** An entry that maps its stack traces before anything else runs. */
const mapped = (program: string) => `\0${program}`

const plugin: Plugin = {
  name: "trunkline",
  resolveId: {
    filter: { id: [/^(?!node:)[@\w]/, /^\0\//, documentation] },
    async handler(id, importer, options) {
      if (id.startsWith("\0/")) return id
      const resolved = await this.resolve(id, importer, { ...options, skipSelf: true })
      if (resolved !== null && documentation.test(id)) return { id: pathToFileURL(resolved.id).href, external: true }
      return resolved !== null && bundled.test(resolved.id) ? resolved : { id, external: true }
    }
  },
  load: {
    filter: { id: /^\0\// },
    handler: (id) => `import "${lines}"\nimport "${id.slice(1)}"`
  },
  transform: {
    filter: { code: /import\.meta\.url/, id: { exclude: [/node_modules/, lines] } },
    handler(code, id) {
      const here = JSON.stringify(pathToFileURL(id).href)
      return code
        .replace(thread, (_, path: string) => {
          const program = join(dirname(id), path)
          const fileName = Bundle.nameOf(program)
          this.emitFile({ type: "chunk", id: mapped(program), fileName })
          return `new URL("./${fileName}", import.meta["url"])`
        })
        .replaceAll("import.meta.url", here)
    }
  }
}

/** A service that runs may still start its threads from an older folder, so the newest and those of a day are kept. */
const keptFolders = 10
const keptMs = 86_400_000

const prune = (): void => {
  const ages = readdirSync(cache, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ name, ageMs: Date.now() - statSync(join(cache, name)).mtimeMs }))
    .toSorted((a, b) => a.ageMs - b.ageMs)
  for (const { ageMs, name } of ages.slice(keptFolders))
    if (ageMs > keptMs) rmSync(join(cache, name), { recursive: true, force: true })
}

const bundle = async (program: string, folder: string): Promise<void> => {
  const build = await rolldown({
    input: mapped(program),
    cwd: dirname(program),
    platform: "node",
    tsconfig: false,
    logLevel: "silent",
    plugins: [plugin]
  })
  const { output } = await build.write({
    dir: folder,
    format: "esm",
    entryFileNames: Bundle.nameOf(program),
    chunkFileNames: "[name]-[hash].mjs",
    comments: false,
    keepNames: true,
    sourcemap: "hidden",
    sourcemapExcludeSources: true
  })
  await build.close()
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))
  const packages = modules.filter((id) => bundled.test(id)).toSorted()
  writeFileSync(join(folder, "packages.json"), JSON.stringify(packages))
  renameSync(join(folder, "packages.json"), Bundle.packageFiles)
}

/** The folder is made under another name, so that no process sees a part of it. The first of several makers wins. */
const draft = join(cache, `draft-${process.pid}-${Date.now()}`)
mkdirSync(cache, { recursive: true })
try {
  const sources = Bundle.sources()
  await bundle(resolve(process.argv[2] ?? ""), draft)
  const folder = Bundle.folder(sources)
  // A source that was edited meanwhile may be in the bundle in its old or its new form, so the bundle is of neither.
  if (Bundle.sources() === sources && !existsSync(folder)) renameSync(draft, folder)
  prune()
} finally {
  rmSync(draft, { recursive: true, force: true })
}
