import { join } from "node:path"
import { Context, Effect, Layer, References } from "effect"
import { DialingPermissions } from "../../../src/money/account/DialingPermissions.ts"
import { Bans } from "../../../src/carrier/ban/Ban.ts"
import { Conferences } from "../../../src/telephony/conference/Conference.ts"
import { Calls } from "../../../src/telephony/call/Call.ts"
import { Carrier, type CarrierCommand } from "../../../src/carrier/Carrier.ts"
import { InboundSimulator } from "../../../src/carrier/InboundSimulator.ts"
import * as TargetPolicy from "../../../src/ports/egress/TargetPolicy.ts"
import { type Outcome, run } from "../../../src/edge/operator/cli.ts"
import { OperatorServer } from "../../../src/edge/operator/door/OperatorServer.ts"
import { Retention } from "../../../src/runtime/retention/Retention.ts"
import { Targets } from "../../../src/tenancy/target/Target.ts"
import { Tenants } from "../../../src/tenancy/tenant/Tenant.ts"
import { Webhooks } from "../../../src/webhook/Webhook.ts"
import * as Sample from "../../support/fake/CarrierSample.ts"
import * as FakeSpeech from "../../support/fake/FakeSpeech.ts"
import * as DataDirectory from "../../support/DataDirectory.ts"
import * as Features from "../../support/service/Features.ts"
import * as Ids from "../../support/Ids.ts"

/** The operator's server with the real features over Postgres; the carrier and the simulated phones only record. */
export class Recorded extends Context.Service<
  Recorded,
  {
    readonly commands: Array<CarrierCommand>
    readonly inbound: Array<Parameters<InboundSimulator["Service"]["simulateInbound"]>[0]>
    /** The reasons that `/readyz` gives. */
    readonly reasons: Array<string>
    readonly tokenFile: string
    readonly dataDir: string
  }
>()("test/operator/Recorded") {}

const recorded = Layer.effect(
  Recorded,
  Effect.map(DataDirectory.make, (dataDir) =>
    Recorded.of({ commands: [], inbound: [], reasons: [], tokenFile: join(dataDir, "operator.token"), dataDir })
  )
)

const recording = Layer.effectDiscard(
  Effect.gen(function* () {
    const { commands } = yield* Recorded
    const adapter = Sample.adapter((command) => Effect.sync(() => void commands.push(command)))
    yield* (yield* Carrier).register("simulator", adapter)
  })
).pipe(Layer.provideMerge(Carrier.layer))

const phones = Layer.effect(
  InboundSimulator,
  Effect.map(Recorded, ({ inbound }) =>
    InboundSimulator.of({
      simulateInbound: (call) =>
        Effect.sync(() => {
          inbound.push(call)
          return call.to === "+12025550150"
            ? ({ admitted: true, callId: Ids.call("svc_call_1"), routeId: null } as const)
            : ({ admitted: false, cause: "not_found" } as const)
        })
    })
  )
)

/** The policy that requests of tenants would follow. */
export const policy = TargetPolicy.make()

/** Builds the world over a carrier with the adapters that it has registered. */
export const over = (carrier: Layer.Layer<Layer.Success<typeof Carrier.layer>, never, Recorded>) =>
  Layer.unwrap(
    Effect.map(Recorded, ({ reasons, tokenFile }) =>
      OperatorServer.layer({ port: 0, hosts: ["metrics.lan"], tokenFile, ready: () => reasons })
    )
  ).pipe(
    Layer.provideMerge(
      Layer.merge(
        Conferences.layer({ wantsSpeaking: () => Effect.succeed(false) }).pipe(
          Layer.provideMerge(Calls.layer({ maxCallSecs: 3600 }))
        ),
        Bans.layer
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        DialingPermissions.layer,
        Targets.layer(policy),
        carrier,
        phones,
        Retention.layer({ days: { event: 30, call: 396 } }),
        Webhooks.layer({ ownsConnection: () => Effect.succeed(false), subscriptionLimit: () => Effect.succeed(50) })
      )
    ),
    Layer.provideMerge(FakeSpeech.layer),
    Layer.provideMerge(Features.layer),
    Layer.provideMerge(recorded),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
  )

export const layer = over(recording)

/** Signs a tenant with this slug up through the feature's door. */
export const signup = Effect.fn(function* (slug: string) {
  const { caller, id } = yield* Features.newTenant({ name: slug, email: `${slug}@example.com` })
  if ((yield* (yield* Tenants).findByReference(slug)).id !== id) throw new Error("the slug is taken")
  return caller
})

/** Runs one command line against the server, as its user would type it. */
export const operator = (...args: ReadonlyArray<string>) => operatorIn({}, ...args)

/** The same with more variables in the environment. */
export const operatorIn = Effect.fn(function* (
  environment: Readonly<Record<string, string>>,
  ...args: ReadonlyArray<string>
) {
  const { dataDir } = yield* Recorded
  const { port } = yield* OperatorServer
  return yield* Effect.promise(() => run(args, { OPERATOR_PORT: String(port), DATA_DIR: dataDir, ...environment }))
})

export const jsonOf = (outcome: Outcome): Record<string, unknown> => {
  if (outcome.stdout === "") throw new Error(`no answer, but: ${outcome.stderr}`)
  return JSON.parse(outcome.stdout) as Record<string, unknown>
}
