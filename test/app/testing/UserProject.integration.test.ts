import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it } from "@effect/vitest"

const root = new URL("../../..", import.meta.url).pathname

describe("A project of its own", () => {
  it("tests its phone menu with the kit, which it has as a linked dependency", { timeout: 180_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "trunkline-user-"))
    try {
      // The same files that `npm install` makes for "trunkline": "file:…" and for vitest.
      await mkdir(join(folder, "node_modules"))
      await symlink(root, join(folder, "node_modules/trunkline"))
      await symlink(join(root, "node_modules/vitest"), join(folder, "node_modules/vitest"))
      await writeFile(
        join(folder, "package.json"),
        JSON.stringify({ name: "acme", type: "module", devDependencies: { trunkline: `file:${root}` } })
      )
      await cp(join(root, "scripts/examples/ivr"), join(folder, "ivr"), { recursive: true })
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ["node_modules/vitest/vitest.mjs", "run", "--testTimeout=60000", "--hookTimeout=60000"],
        { cwd: folder, env: { PATH: process.env["PATH"], HOME: folder, CI: "1", NO_COLOR: "1" } }
      )
      expect(stdout).toContain("3 passed")
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it("learns which Node the kit needs from a Node that is too old for its sources", async () => {
    const older = "data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'20.20.2'}})"
    const use = promisify(execFile)(
      process.execPath,
      ["--no-strip-types", "--import", older, "--input-type=module", "-e", 'import "trunkline/testing"'],
      { cwd: root }
    )
    await expect(use).rejects.toThrow(/trunkline\/testing needs Node 24 or later, and this is Node 20\.20\.2: run /)
  })

  it("gets from the entry of the kit what its types promise", async () => {
    const [entry, typed] = await Promise.all([
      import("../../../src/app/testing/Kit.js"),
      import("../../../src/app/testing/Trunkline.ts")
    ])
    expect({ ...entry }).toStrictEqual({ ...typed })
  })
})
