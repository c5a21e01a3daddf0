import { readdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as OwnerFile from "../../../../src/runtime/store/embedded/OwnerFile.ts"
import * as DataDirectory from "../../../support/DataDirectory.ts"
import * as OtherProcess from "../../../support/service/OtherProcess.ts"

const fixture = new URL("./Owner.fixture.ts", import.meta.url).pathname

const owners = (dataDir: string) =>
  Effect.promise(async () => (await readdir(dataDir)).filter((name) => name.startsWith("owner-")))

describe("the owner file of DATA_DIR", () => {
  it.live("is there while its scope is open, and gone after it", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      yield* Effect.gen(function* () {
        yield* OwnerFile.acquire(dataDir)
        expect(yield* owners(dataDir)).toHaveLength(1)
      }).pipe(Effect.scoped)
      expect(yield* owners(dataDir)).toHaveLength(0)
    })
  )

  it.live("refuses a second owner in the same process", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      yield* OwnerFile.acquire(dataDir)
      const error = yield* Effect.flip(OwnerFile.acquire(dataDir))
      expect(error._tag).toBe("DataDirInUse")
    })
  )

  it.live("refuses while another process lives, naming it, and takes over once that is killed", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      const other = yield* OtherProcess.start(fixture, [dataDir])
      expect(other.firstLine).toBe("owner")
      const error = yield* Effect.flip(OwnerFile.acquire(dataDir))
      expect(error.message).toBe(
        `DATA_DIR ${dataDir} is in use by the running process ${other.pid}: stop it, or set another DATA_DIR`
      )
      expect(yield* owners(dataDir)).toHaveLength(1)
      yield* other.kill("SIGKILL")
      yield* OwnerFile.acquire(dataDir)
      expect(yield* owners(dataDir)).toHaveLength(1)
    })
  )

  it.live("is not fooled by a recycled pid", () =>
    Effect.gen(function* () {
      const dataDir = yield* DataDirectory.make
      // Our parent lives, but it did not start when this owner did.
      yield* Effect.promise(() => writeFile(join(dataDir, `owner-${process.ppid}-0123456789ab`), ""))
      yield* OwnerFile.acquire(dataDir)
      const left = yield* owners(dataDir)
      expect(left).toHaveLength(1)
      expect(left[0] ?? "").toMatch(new RegExp(`^owner-${process.pid}-`))
    })
  )

  it.live("names a DATA_DIR that cannot be created", () =>
    Effect.gen(function* () {
      const dataDir = join(yield* DataDirectory.make, "file")
      yield* Effect.promise(() => writeFile(dataDir, ""))
      const error = yield* Effect.flip(OwnerFile.acquire(dataDir))
      expect(error._tag).toBe("DataDirUnusable")
      expect(error.message).toContain(`DATA_DIR ${dataDir} cannot be used`)
    })
  )
})
