/**
 * Fails for each export of `src` that no other file of `src`, `test` or `scripts` uses. A name that only its own file
 * needs is not exported, and one that no file needs is deleted. Default exports are not checked.
 */
import { parseSync } from "oxc-parser"
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

const root = new URL("..", import.meta.url).pathname

/** The entries of the package, whose exports are for its users. */
const publicEntries = new Set(["src/app/testing/Trunkline.ts"])

const everything = "*"
/** The used names of each file; `everything` when a file uses the whole module. */
const used = new Map<string, Set<string>>()
/** The exported names of each file of `src`, with the offset of each. */
const exported = new Map<string, ReadonlyMap<string, number>>()
const sources = new Map<string, string>()

const use = (path: string, name: string) => {
  const names = used.get(path) ?? new Set()
  used.set(path, names.add(name))
}

/** The names that are read from a namespace, or `everything` when it is used as a value. */
const membersOf = (code: string, namespace: string): ReadonlyArray<string> =>
  [
    ...code.matchAll(new RegExp(`(?<![\\w$]|(?<!\\.\\.)\\.)${namespace}(?![\\w$])(?:\\s*\\??\\.\\s*([\\w$]+))?`, "g"))
  ].map(([, member]) => member ?? everything)

for (const path of globSync("{src,test,scripts}/**/*.{ts,js}", { cwd: root }).toSorted()) {
  const source = readFileSync(join(root, path), "utf8")
  const { comments, module } = parseSync(path, source)
  const targetOf = (specifier: string) => (specifier.startsWith(".") ? normalize(join(dirname(path), specifier)) : null)
  let code = source
  for (const { end, start } of [...comments, ...module.staticImports])
    code = code.slice(0, start) + " ".repeat(end - start) + code.slice(end)

  for (const { entries, moduleRequest } of module.staticImports) {
    const target = targetOf(moduleRequest.value)
    if (target === null) continue
    for (const { importName, localName } of entries)
      for (const name of importName.name === null ? membersOf(code, localName.value) : [importName.name])
        use(target, name)
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const target = targetOf(source.slice(moduleRequest.start + 1, moduleRequest.end - 1))
    if (target !== null) use(target, everything)
  }
  const names = new Map<string, number>()
  for (const { entries } of module.staticExports)
    for (const { exportName, importName, moduleRequest, start } of entries) {
      const target = moduleRequest === null ? null : targetOf(moduleRequest.value)
      if (target !== null) use(target, importName.name ?? everything)
      if (exportName.name !== null) names.set(exportName.name, start)
    }
  if (path.startsWith("src/") && !publicEntries.has(path)) exported.set(path, names)
  sources.set(path, source)
}

let count = 0
const problems: Array<string> = []
for (const [path, names] of exported) {
  const uses = used.get(path)
  for (const [name, offset] of names) {
    count += 1
    if (uses?.has(name) === true || uses?.has(everything) === true) continue
    const line = (sources.get(path) ?? "").slice(0, offset).split("\n").length
    problems.push(`${path}:${line}: no other file uses ${name}`)
  }
}

console.log(`${count} exports of src, ${problems.length} of them unused`)
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exit(1)
