import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import { execFile, spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

/** A project whose program says a word, starts a thread that says another, and fails. */
const root = fileURLToPath(new URL("../../../..", import.meta.url))
let folder = ""
const cache = () => join(folder, "node_modules/.cache/trunkline")
const write = (path: string, text: string) => writeFileSync(join(folder, "src", path), text)

const program = (word: string) => `
import { Worker } from "node:worker_threads"
import { Option } from "effect"
import { fail } from "./Fail.ts"
console.log(Option.getOrThrow(Option.some("${word}")))
new Worker(new URL("./Thread.ts", import.meta.url)).on("exit", () => fail())
`

/** The output of the program, and whether it ran from a bundle. */
const start = (...options: ReadonlyArray<string>) => {
  const { stderr, stdout } = spawnSync(process.execPath, [...options, "src/main.ts"], { cwd: folder, encoding: "utf8" })
  const [files = "", ...words] = stdout.trim().split("\n")
  return { words, isBundle: files.includes(".cache"), stderr }
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trunkline-bundle-"))
  mkdirSync(join(folder, "node_modules"))
  mkdirSync(join(folder, "src/app/boot"), { recursive: true })
  for (const name of readdirSync(join(root, "node_modules")).filter((each) => !each.startsWith(".")))
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name))
  cpSync(join(root, "src/app/boot/bundle"), join(folder, "src/app/boot/bundle"), { recursive: true })
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`)
  write(
    "main.ts",
    `
import * as Bundle from "./app/boot/bundle/Bundle.ts"
const found = Bundle.find(new URL("./Program.ts", import.meta.url))
console.log(found.pathname)
await import(found.href)
`
  )
  write("Program.ts", program("first"))
  write("Thread.ts", `import { thread } from "./Words.ts"\nconsole.log(thread)\n`)
  write("Words.ts", `export const thread = "thread"\n`)
  write("Fail.ts", `export const fail = (): never => {\n\n  throw new Error("here")\n}\n`)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe("The bundle of a program", { timeout: 60_000 }, () => {
  it("runs the program and its threads, and is found again", () => {
    expect(start()).toMatchObject({ words: ["first", "thread"], isBundle: true })
    const made = readdirSync(cache())
    expect(start()).toMatchObject({ words: ["first", "thread"], isBundle: true })
    expect(readdirSync(cache())).toStrictEqual(made)
  })

  it("names the lines of the sources in stack traces", () => {
    expect(start().stderr).toMatch(/Error: here\n\s+at fail \(file:\S+\/src\/Fail\.ts:3:9\)/)
  })

  it("is never older than a source, whatever the times of the files say", () => {
    start()
    write("Program.ts", program("other"))
    expect(start()).toMatchObject({ words: ["other", "thread"], isBundle: true })
    write("Words.ts", `export const thread = "weaver"\n`)
    expect(start()).toMatchObject({ words: ["other", "weaver"], isBundle: true })
  })

  it("leaves the sources to a debugger", () => {
    expect(start("--inspect=0")).toMatchObject({ words: ["first", "thread"], isBundle: false })
  })

  it("is gone without where its folder cannot be written", () => {
    writeFileSync(join(folder, "node_modules/.cache"), "no folder")
    expect(start()).toMatchObject({ words: ["first", "thread"], isBundle: false })
  })

  it("is made once when several programs start together", async () => {
    const starts = Array.from({ length: 3 }, () =>
      promisify(execFile)(process.execPath, ["src/main.ts"], { cwd: folder }).catch(
        (failed: { stdout: string }) => failed
      )
    )
    const said = (await Promise.all(starts)).map(({ stdout }) => stdout)
    for (const text of said) expect(text).toMatch(/\.cache.*\nfirst\nthread\n/)
    expect(readdirSync(cache()).filter((name) => name !== "packages.json")).toHaveLength(1)
  })
})
