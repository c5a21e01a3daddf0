import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { vi } from "vitest"
import * as Binaries from "../../../../src/runtime/store/embedded/Binaries.ts"
import * as DataDirectory from "../../../support/DataDirectory.ts"

const onPlatform = (platform: NodeJS.Platform) =>
  Effect.acquireRelease(
    Effect.sync(() => vi.spyOn(process, "platform", "get").mockReturnValue(platform)),
    (spy) => Effect.sync(() => spy.mockRestore())
  )

describe("The programs of the embedded Postgres", () => {
  it.effect("are looked for on every platform by a normal user, and on Linux only by root", () =>
    Effect.gen(function* () {
      yield* onPlatform("sunos")
      const place = yield* DataDirectory.make
      const refusal = (id: number | null) =>
        Effect.map(Effect.flip(Binaries.prepare({ id }, place)), ({ message }) => message)
      expect(yield* refusal(null)).toContain("no binaries are installed for sunos-")
      expect(yield* refusal(65_534)).toContain("it runs as root on Linux only")
    }).pipe(Effect.scoped)
  )
})
