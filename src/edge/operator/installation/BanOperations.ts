import { Effect, Schema } from "effect"
import { Bans } from "../../../carrier/ban/Ban.ts"
import type { Ban } from "../../../carrier/peer/IngressBans.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import * as Operation from "../door/Operation.ts"

const view = ({ by, createdAt, expiresAt, network, reason }: Ban) => ({
  network,
  by,
  reason,
  created_at: Timestamp.format(createdAt),
  expires_at: expiresAt === null ? null : Timestamp.format(expiresAt)
})

const Network = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(64))
const tenYears = 315_360_000

/** `ban list`, `add`, `remove`, `loud`, guide/sip.md#bans. */
export const make = Effect.gen(function* () {
  const bans = yield* Bans
  return [
    Operation.make("ban/list", Operation.Nothing, () => Effect.map(bans.list, (all) => ({ results: all.map(view) }))),
    Operation.make(
      "ban/add",
      Wire.struct({
        network: Network,
        reason: Schema.String.check(Schema.isMaxLength(200)),
        forSecs: Wire.absentIs(
          null,
          Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: tenYears })))
        )
      }),
      (ban) => Effect.map(bans.add(ban), view)
    ),
    Operation.make("ban/remove", Schema.Struct({ network: Network }), ({ network }) => bans.remove(network)),
    Operation.make("ban/loud", Operation.Nothing, () => Effect.map(bans.loudest, (results) => ({ results })))
  ]
})
