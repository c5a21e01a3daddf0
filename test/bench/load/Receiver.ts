import { Effect } from "effect"
import type { CallId } from "../../../src/domain/Id.ts"
import * as TestCertificate from "../../support/network/TestCertificate.ts"
import * as Child from "./Child.ts"

export interface Arrival {
  readonly callId: CallId
  readonly sequence: number
  /** `process.hrtime`, the machine's monotonic clock, which all its processes share. */
  readonly atNanos: bigint
}

export type Question =
  | { readonly type: "listen"; readonly cert: string; readonly key: string }
  | { readonly type: "take" }

/** An HTTPS receiver in a separate process, on 127.0.0.1 under these names. */
export const start = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const authority = TestCertificate.makeAuthority()
  const child = yield* Child.start<number | ReadonlyArray<Arrival>>("./Receiver.process.ts")
  const port = yield* child.ask({ type: "listen", ...authority.issue(names) } satisfies Question)
  return {
    authority: authority.cert,
    port: Number(port),
    /** Takes the requests since the last call. */
    take: Effect.map(child.ask({ type: "take" } satisfies Question), (taken) =>
      typeof taken === "number" ? [] : taken
    )
  }
})
