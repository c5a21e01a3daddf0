import { lookup } from "node:dns/promises"
import { Cause, Clock, Context, Effect, FiberHandle, FiberSet, Layer, Metric } from "effect"
import * as Codecs from "../../protocol/audio/codec/Codecs.ts"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as IpAddress from "../../domain/network/IpAddress.ts"
import * as Outage from "../../runtime/store/Outage.ts"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { MediaPlane } from "../../media/plane/MediaPlane.ts"
import { Carrier, CarrierSink, RouteDirectory } from "../Carrier.ts"
import { LegSounds } from "../LegSounds.ts"
import * as PeerTable from "../peer/PeerTable.ts"
import { IngressBans } from "../peer/IngressBans.ts"
import { TrunkStates } from "../peer/TrunkStates.ts"
import * as InviteLog from "./InviteLog.ts"
import * as IngressFilter from "./ingress/IngressFilter.ts"
import type { Run } from "./leg/LegEvents.ts"
import type { Counters } from "./TransactionLayer.ts"
import * as LegQualityLog from "./LegQualityLog.ts"
import * as SipMetrics from "./SipMetrics.ts"
import * as StrangerWatch from "./StrangerWatch.ts"
import * as Qualifier from "./trunk/Qualifier.ts"
import * as Transports from "./transport/Transports.ts"
import * as UdpTransport from "./transport/UdpTransport.ts"
import { SharedBridges } from "../bridge/SharedBridges.ts"
import { SharedRooms } from "../room/SharedRooms.ts"
import * as UserAgent from "./UserAgent.ts"

interface Config {
  /** Our name in User-Agent. */
  readonly userAgent: string
  /** The codecs that we offer and answer with, most wanted first; default `Codecs.defaultOrder`. */
  readonly codecs?: ReadonlyArray<Codecs.CodecName>
  /** Whose codec order decides when a peer offers; default: ours. */
  readonly codecChoice?: "ours" | "theirs"
  /** Whether strangers get no answer at all. By default they get one while their bucket holds. */
  readonly isSilent?: boolean
  /** The most legs at once, default 5,000; the next one is refused. */
  readonly maxLegs?: number
}

/**
 * The SIP carrier, RFC 3261 over UDP: the adapter `sip`.
 *
 * Not built yet: ring-back towards the far leg, TCP and TLS, reliable provisional responses, session timers, and digest
 * authentication of inbound calls (a trunk is known by its address).
 */
export class SipCarrier extends Context.Service<
  SipCarrier,
  {
    /** Refuses new calls of peers with 503 from now on; live calls continue. */
    readonly drain: Effect.Effect<void>
    /** The held objects and the counters; the held objects are zero when every call is forgotten. */
    readonly stats: Effect.Effect<Readonly<Counters> & UserAgent.Held>
  }
>()("trunkline/carrier/sip/SipCarrier") {}

/** A later wake shows that this thread stood still, and messages that came meanwhile wait in the sockets. */
const lateMs = 500
/** The time in which they are read, before what is overdue is given up. */
const readMs = 100

const faulty = "fault in the SIP carrier"
const logFault = (error: unknown) => Effect.logError(faulty, error)

const resolveName = (host: string): Effect.Effect<ReadonlyArray<string>, unknown> => {
  const literal = IpAddress.canonical(host)
  return literal === null
    ? Effect.map(
        Effect.tryPromise(() => lookup(host, { all: true })),
        (found) => found.flatMap(({ address }) => IpAddress.canonical(address) ?? [])
      )
    : Effect.succeed([literal])
}

const make = Effect.fnUntraced(function* (config: Config, resolve: UserAgent.Options["resolve"]) {
  const carrier = yield* Carrier
  const sink = yield* CarrierSink
  const directory = yield* RouteDirectory
  const plane = yield* MediaPlane
  const entropy = yield* Entropy
  const transports = yield* Transports.Transports
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime()
  const alarm = yield* FiberHandle.makeRuntime<never>()

  const run: Run = (effect, settled) => {
    const fiber = fork(
      Effect.tapCause(effect, (cause) => (Cause.hasDies(cause) ? Outage.logged(faulty, cause) : Effect.void))
    )
    fiber.addObserver(settled)
  }
  const peers = PeerTable.make()
  yield* directory.knownPeers((update) =>
    Effect.suspend(() => {
      const version = peers.take(update)
      return Effect.as(Metric.update(SipMetrics.knownPeers, peers.size()), version)
    })
  )
  const states = yield* TrunkStates
  const watch = yield* StrangerWatch.make
  const gate = IngressFilter.make({
    peers,
    isSilent: config.isSilent ?? false,
    banned: watch.banned,
    now: () => Monotonic.read(clock),
    wallMs: () => clock.currentTimeMillisUnsafe()
  })
  yield* (yield* IngressBans).register({
    take: gate.bans.take,
    lift: gate.bans.lift,
    automatic: gate.bans.automatic,
    loudest: () => gate.loudest(10)
  })
  const incarnation = entropy.hex(8)
  const bridges = yield* SharedBridges
  const rooms = yield* SharedRooms
  const sounds = yield* LegSounds
  const sounded = yield* LegQualityLog.make
  const agent: UserAgent.UserAgent = UserAgent.make({
    transports,
    userAgent: config.userAgent,
    negotiation: {
      codecs: (config.codecs ?? Codecs.defaultOrder).map((name) => Codecs.table[name]),
      codecChoice: config.codecChoice ?? "ours"
    },
    run,
    plane,
    bridging: (legs) => bridges.add(plane, legs),
    meeting: (legs) => rooms.add(plane, { incarnation, ...legs }),
    sink,
    directory,
    soundEnds: sounds.expect,
    sounded: (leg) => void fork(sounded(leg)),
    resolve,
    random: entropy.hex,
    incarnation,
    gate,
    stranger: watch.sighted,
    refused: yield* InviteLog.make,
    counted: states.count,
    steadyMs: () => Monotonic.read(clock),
    maxLegs: config.maxLegs ?? 5_000,
    fault: (error) => void fork(logFault(error)),
    alarm: {
      now: () => Monotonic.read(clock),
      wakeAt: (at) => {
        // The wait is at least 1 ms, because a wake within this call would come before `alarm` holds its fiber.
        const wait = Effect.sleep(Math.max(1, Math.ceil(at - Monotonic.read(clock))))
        const read = Effect.suspend(() => (Monotonic.read(clock) - at > lateMs ? Effect.sleep(readMs) : Effect.void))
        alarm(
          Effect.andThen(
            Effect.andThen(wait, read),
            Effect.sync(() => agent.transactions.wake())
          )
        )
      }
    }
  })
  transports.receive(agent.transactions.receive)
  // A message that arrives while the layer goes down is dropped.
  yield* Effect.addFinalizer(() => Effect.sync(() => transports.receive(() => undefined)))
  yield* Qualifier.make({
    directory,
    resolve,
    transports,
    transactions: agent.transactions,
    random: entropy.hex,
    userAgent: config.userAgent
  })
  yield* carrier.register("sip", {
    incarnation,
    plane,
    interpret: (order) => Effect.sync(() => agent.command(order)),
    snapshot: (authority, legIds) => Effect.sync(() => agent.snapshot(authority, legIds)),
    caughtUp: (legId) => Effect.callback((resume) => agent.caughtUp(legId, () => resume(Effect.void))),
    rooms: agent.rooms
  })
  return SipCarrier.of({
    drain: Effect.sync(agent.drain),
    stats: Effect.sync(() => ({ ...agent.transactions.counters, ...agent.held() }))
  })
})

/** Takes its transports from the context. */
export const layerNoDeps = (config: Config, resolve: UserAgent.Options["resolve"] = resolveName) =>
  Layer.effect(SipCarrier, make(config, resolve))

/** Listens on `host:port` over UDP; fails with `SipPortUnavailable`. */
export const layer = (config: Config & UdpTransport.Options) =>
  layerNoDeps(config).pipe(
    Layer.provide(
      Layer.effect(
        Transports.Transports,
        Effect.map(UdpTransport.make(config), (udp) => Transports.make([udp]))
      )
    )
  )
