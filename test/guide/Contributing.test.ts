import { describe, expect, it } from "@effect/vitest"
import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The lists of files in CONTRIBUTING.md are complete: they are the files that have the names of their example. */
const root = new URL("../../", import.meta.url).pathname

const searched = globSync(
  ["src/**/*.{ts,md,json}", "scripts/**/*.{ts,json}", "test/{matrix,carrier,crash}/**/*.ts", "README.md"],
  { cwd: root }
).map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))

const inCode = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word)

const recipes = readFileSync(join(root, "CONTRIBUTING.md"), "utf8")
  .split(/^### /m)
  .slice(1)
  .map((section) => {
    const [title = "", ...lines] = (section.split(/^## /m)[0] ?? "").split("\n")
    return {
      title,
      names: inCode(lines.find((line) => line.startsWith("Example: ")) ?? ""),
      files: lines.filter((line) => line.startsWith("| `")).flatMap((line) => inCode(line.split("|")[1] ?? ""))
    }
  })

const has = (text: string, name: string) =>
  new RegExp(`(?<!\\w)${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?!\\w)`).test(text)

describe("CONTRIBUTING.md", () => {
  it("says how to add what is added often", () => {
    expect(recipes.map(({ title }) => title)).toEqual([
      "Add a verb of a call",
      "Add a verb of a conference",
      "Add an event",
      "Add a codec",
      "Add a carrier",
      "Add a list column",
      "Add a setting"
    ])
  })

  it.each(recipes)("$title: names files that are there", ({ files }) => {
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  it.each(recipes)("$title: names all files of its example, and no others", ({ files, names }) => {
    const folders = files.filter((file) => file.endsWith("/"))
    const found = searched
      .filter(({ text }) => names.some((name) => has(text, name)))
      .map(({ path }) => folders.find((folder) => path.startsWith(folder)) ?? path)
    expect(names.length).toBeGreaterThan(0)
    expect([...new Set(found)].sort()).toEqual([...files].sort())
  })
})
