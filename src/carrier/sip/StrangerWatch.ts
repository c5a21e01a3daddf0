/**
 * Reports strangers to the operator: counts them, and writes the lines of the security log (guide/sip.md#security-log).
 *
 * A line holds no raw text of a stranger: its method is a name from a table, and its number consists of digits.
 */
import { Clock, Effect, FiberSet, Schedule } from "effect"
import * as Supervised from "../../runtime/process/Supervised.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import type { Sighting } from "./ingress/IngressPipeline.ts"
import * as BanList from "./ingress/BanList.ts"
import * as SecurityLog from "./ingress/SecurityLog.ts"
import * as StrangerSource from "./ingress/StrangerSource.ts"
import * as InviteIdentity from "./leg/inbound/InviteIdentity.ts"
import * as SipMetrics from "./SipMetrics.ts"

/** The messages of the lines that fail2ban reads. */
const refusedLine = "SIP message of a stranger refused"
const bannedLine = "SIP stranger banned"
/** The message for a trunk, which fail2ban must not ban. */
const floodLine = "SIP messages of a trunk beyond what is read of one"

const summaryEvery = "10 seconds"

export const make = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
  const count = yield* SipMetrics.strangers
  const log = SecurityLog.make()
  /** Trunks have a log of their own, so that strangers do not use up its lines. */
  const trunkLog = SecurityLog.make()

  const line = (message: string, annotations: Readonly<Record<string, string | number>>) =>
    void fork(Effect.annotateLogs(Effect.logWarning(message), annotations))

  yield* Effect.suspend(() => {
    const messages = log.untold()
    return messages === 0
      ? Effect.void
      : Effect.annotateLogs(Effect.logWarning("SIP messages of strangers beyond the lines of this log"), { messages })
  }).pipe(Effect.schedule(Schedule.spaced(summaryEvery)), (summaries) => Supervised.fork("the security log", summaries))

  return {
    sighted: (sighting: Sighting): void => {
      count.sighted(sighting)
      const { address, port } = sighting.from.remote
      const isTrunk = sighting.type === "unread" && sighting.why === "peer flood"
      const messages = (isTrunk ? trunkLog : log).note(StrangerSource.of(address), Monotonic.read(clock))
      if (messages === null) return
      if (isTrunk) return line(floodLine, { source: address, messages })
      const request = sighting.type === "refused" ? sighting.request : null
      line(refusedLine, {
        source: address,
        port,
        method: request === null ? "unread" : SipMetrics.methodOf(request.method),
        status: sighting.type === "refused" ? (sighting.status ?? "none") : "none",
        why: sighting.type === "unread" ? sighting.why : "stranger",
        to: (request === null ? null : InviteIdentity.called(request)) ?? "none",
        messages
      })
    },
    /** `network` is the banned one, which for IPv6 is larger than the address that sent last. */
    banned: (network: string, source: string, messages: number): void => {
      count.banned()
      line(bannedLine, { source, network, messages, secs: BanList.automaticMs / 1_000 })
    }
  }
})
