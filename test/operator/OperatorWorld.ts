import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer, Redacted, References } from "effect"
import { Accounts } from "../../src/account/Account.ts"
import { DestinationRules } from "../../src/account/DestinationRules.ts"
import { Entropy } from "../../src/actor/Entropy.ts"
import { ApiKeys } from "../../src/apikey/ApiKey.ts"
import { Billing } from "../../src/billing/Billing.ts"
import * as Onboarded from "../../src/boot/Onboarded.ts"
import { Calls } from "../../src/call/Call.ts"
import { InboundSimulator } from "../../src/carrier/InboundSimulator.ts"
import { Connections } from "../../src/connection/Connection.ts"
import { Egress } from "../../src/egress/Egress.ts"
import * as LogMail from "../../src/mail/log/LogMail.ts"
import { type Outcome, run } from "../../src/operator/cli.ts"
import { OperatorServer } from "../../src/operator/OperatorServer.ts"
import { Numbers } from "../../src/number/Number.ts"
import * as JournalWriter from "../../src/store/JournalWriter.ts"
import { Vault } from "../../src/store/Vault.ts"
import { Tenants } from "../../src/tenant/Tenant.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** The operator's server on the real doors over Postgres; calls and simulated phones are fakes that record. */
export class Recorded extends Context.Service<
  Recorded,
  {
    readonly ended: Array<string>
    readonly inbound: Array<{ readonly from: string; readonly to: string }>
    /** What stands in the way, for `/readyz`. */
    readonly reasons: Array<string>
    readonly tokenFile: string
    readonly dataDir: string
  }
>()("test/operator/Recorded") {}

const recorded = Layer.effect(
  Recorded,
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "trunkline-operator-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
    ),
    (dataDir) =>
      Recorded.of({ ended: [], inbound: [], reasons: [], tokenFile: join(dataDir, "operator.token"), dataDir })
  )
)

const fakes = Layer.unwrap(
  Effect.map(Recorded, ({ ended, inbound }) =>
    Layer.mergeAll(
      Layer.mock(Calls)({
        liveCount: Effect.succeed(3),
        endAll: (tenantId) => Effect.sync(() => void ended.push(tenantId)),
        list: () => Effect.succeed({ count: 0, results: [] })
      }),
      Layer.succeed(InboundSimulator, {
        simulateInbound: (call) =>
          Effect.sync(() => {
            inbound.push(call)
            return call.to === "+12025550150"
              ? ({ admitted: true, callId: "svc_call_1" } as const)
              : ({ admitted: false, cause: "not_found" } as const)
          })
      }),
      Layer.mock(Egress)({ refuse: () => null }),
      LogMail.layer
    )
  )
)

const store = JournalWriter.layer({ onLost: () => {} }).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Vault.layer(Redacted.make(new Uint8Array(32)))),
  Layer.provideMerge(Entropy.layerFixed("operator"))
)

const doors = Tenants.layer({ baseUrl: "http://localhost" }).pipe(
  Layer.provide(Onboarded.layer),
  Layer.provideMerge(Numbers.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      Billing.layer({ trialCreditCents: 500 }),
      Connections.layer({ lookup: () => Effect.succeed([]) }),
      DestinationRules.layer,
      ApiKeys.layer.pipe(Layer.provideMerge(Accounts.layer))
    )
  )
)

export const layer = Layer.unwrap(
  Effect.map(Recorded, ({ reasons, tokenFile }) => OperatorServer.layer({ port: 0, tokenFile, ready: () => reasons }))
).pipe(
  Layer.provideMerge(doors),
  Layer.provideMerge(fakes),
  Layer.provideMerge(store),
  Layer.provideMerge(recorded),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

/** A tenant with the slug `slug`, signed up through its door. */
export const signup = Effect.fn(function* (slug: string) {
  const tenants = yield* Tenants
  yield* tenants.signup(
    {
      email: `${slug}@example.com`,
      password: "correct horse",
      tenantName: slug,
      firstName: "A",
      lastName: "B",
      legalName: null,
      country: null,
      companySize: null,
      industry: null,
      useCase: null,
      webhookFailoverUrl: null
    },
    null,
    null
  )
  return (yield* tenants.findByReference(slug)).id
})

/** One command line against the server, as its user would type it. */
export const operator = Effect.fn(function* (...args: ReadonlyArray<string>) {
  const { dataDir } = yield* Recorded
  const { port } = yield* OperatorServer
  return yield* Effect.promise(() => run(args, { OPERATOR_PORT: String(port), DATA_DIR: dataDir }))
})

export const jsonOf = (outcome: Outcome): Record<string, unknown> => {
  if (outcome.stdout === "") throw new Error(`no answer, but: ${outcome.stderr}`)
  return JSON.parse(outcome.stdout) as Record<string, unknown>
}
