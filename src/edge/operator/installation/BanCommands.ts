import { Effect, Schema } from "effect"
import { Bans } from "../../../carrier/ban/Ban.ts"
import type { Ban } from "../../../carrier/peer/IngressBans.ts"
import * as Wire from "../../../domain/schema/Wire.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as Shown from "../command/Shown.ts"

const view = (ban: Ban) => Shown.of(ban, "network by reason createdAt expiresAt")

const network = Flag.argument("network", Flag.text(64), "an address, or a network as 10.1.2.0/24")
const tenYears = 315_360_000

/** guide/sip.md#bans. */
export const commands = [
  Command.make("ban list", {
    summary: "lists the networks that SIP ignores: your bans, and automatic ones of loud strangers",
    columns: "network by created_at expires_at reason",
    run: () => Bans.use((bans) => Effect.map(bans.list, (all) => ({ results: all.map(view) })))
  }),
  Command.make("ban add", {
    summary: "ignores all SIP messages from an address or network (10.1.2.0/24), but those of trunks",
    input: {
      network,
      reason: Flag.of(Wire.absentIs("", Schema.String.check(Schema.isMaxLength(200))), "why, for the list"),
      forSecs: Flag.of(
        Wire.absentIs(null, Schema.NullOr(Flag.between(1, tenYears))),
        "for how many seconds; for good unless given",
        { flag: "secs", value: "N" }
      )
    },
    run: (ban) => Bans.use((bans) => Effect.map(bans.add(ban), view))
  }),
  Command.make("ban remove", {
    summary: "takes a ban back, also automatic ones within the network",
    input: { network },
    run: ({ network }) => Bans.use((bans) => bans.remove(network))
  }),
  Command.make("ban loud", {
    summary: "shows the ten loudest strangers of the last 10 to 20 seconds",
    columns: "source messages",
    run: () => Bans.use((bans) => Effect.map(bans.loudest, (results) => ({ results })))
  })
]
