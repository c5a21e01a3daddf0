import { Effect } from "effect"
import { LegId, MemberId } from "../../../../src/domain/Id.ts"
import * as Report from "../../Report.ts"
import * as Rounds from "../../Rounds.ts"
import * as BarePlane from "../BarePlane.ts"
import * as MediaThread from "../MediaThread.ts"
import * as ThreadTime from "../ThreadTime.ts"
import * as Raster from "./Raster.ts"
import * as Talk from "./Talk.ts"

/** PCMU members over UDP on loopback, in the thread that the service has for them. */
const rounds = 2
const secondsPerRound = 2.5
const settleMs = 1200
/** A packet that is sent this long after its raster is late. */
const lateMs = 10
/** The longest time after which all members hear a burst; bursts are further apart. */
const longestMs = 200

const nowMs = () => Number(process.hrtime.bigint()) / 1e6

interface Round {
  /** The share of a core that this process used, including its media thread. */
  readonly cores: number
  /** The share of the time in which the media thread could have run, and had no core. */
  readonly waited: number
  /** The number of frames that were sent late, or never. */
  readonly late: number
  readonly frames: number
  readonly lost: number
  /** The share of a core that the far ends used, and their longest pause. */
  readonly peers: Pick<Talk.Answer, "cores" | "longestPauseMs">
  /** The milliseconds from a burst's packet to the packet of each other member that carries it. */
  readonly delays: ReadonlyArray<number>
  readonly joinsPerSecond: number
  /** The milliseconds from muting a talker to the last packet of a member that carries it. */
  readonly cutMs: number
}

interface Kind {
  readonly rooms: number
  readonly members: number
  readonly talk: Talk.Talk
  readonly talkers: number
  readonly jitterMs?: number
  readonly seconds?: number
}

const delaysOf = ({ bursts, departures }: Talk.Answer): ReadonlyArray<number> =>
  bursts.flatMap(({ call, sentMs }) => {
    const first = new Map<number, number>()
    for (const { atMs, call: of, isLoud } of departures)
      if (isLoud && of !== call && atMs > sentMs && atMs < sentMs + longestMs && !first.has(of)) first.set(of, atMs)
    return [...first.values()].map((atMs) => atMs - sentMs)
  })

export const run = Effect.gen(function* () {
  const peers = yield* Talk.start
  const thread = yield* MediaThread.start({
    bindAddress: "127.0.0.1",
    portMin: 20_000,
    portMax: 23_999,
    mediaTimeoutMs: 0,
    maxLegs: 600,
    ringback: "US"
  })
  const bare = yield* BarePlane.start
  let opened = 0

  /** Measures the usage and the sent packets from now on. */
  const observed = Effect.fnUntraced(function* (seconds = secondsPerRound) {
    yield* peers.watch
    const before = process.cpuUsage()
    const threadBefore = ThreadTime.now()
    const beganAt = nowMs()
    yield* Effect.sleep(seconds * 1000)
    const { system, user } = process.cpuUsage(before)
    const threadAfter = ThreadTime.now()
    const tookMs = nowMs() - beganAt
    const taken = yield* peers.take
    const figures = Raster.figures(taken.departures)
    const sum = (what: (each: Raster.Figures) => number) => figures.reduce((total, each) => total + what(each), 0)
    return {
      cores: (system + user) / 1000 / tookMs,
      waited: (threadAfter.waitedMs - threadBefore.waitedMs) / tookMs,
      delays: delaysOf(taken),
      frames: sum(({ packets, skipped }) => packets + skipped),
      lost: sum(({ lost }) => lost),
      late: sum(({ lateness, skipped }) => skipped + lateness.filter((ms) => ms > lateMs).length),
      peers: taken
    }
  })

  /** A thread that only receives and sends as many packets as a room of 250. */
  const floor = Effect.gen(function* () {
    const ports = yield* bare.open(250, peers.port)
    yield* peers.talk({ ports, roomSize: 250, talkers: 5, talk: "words", jitterMs: 0 })
    yield* Effect.sleep(settleMs)
    const measured = yield* observed()
    yield* peers.stop
    yield* bare.close
    return { ...measured, joinsPerSecond: NaN, cutMs: NaN } satisfies Round
  })

  const round = Effect.fnUntraced(function* ({ jitterMs = 0, members, rooms, seconds, talk, talkers }: Kind) {
    const run = ++opened
    const roomIds = Array.from({ length: rooms }, (_, i) => LegId.make(`room ${run} ${i}`))
    const legs = Array.from({ length: rooms * members }, (_, i) => LegId.make(`leg ${run} ${i}`))
    const ports: Array<number> = []
    for (const room of roomIds) yield* thread.openRoom(room)
    for (const leg of legs) {
      ports.push(yield* thread.open(leg))
      yield* thread.connect(leg, {
        address: "127.0.0.1",
        port: peers.port,
        rtcpPort: peers.port,
        signallingAddress: null,
        codec: "PCMU",
        fmtp: null,
        audio: { send: 0, receive: 0 },
        telephoneEvent: { send: 101, receive: 101, clockRate: 8000 },
        ptimeMs: 20,
        direction: "sendrecv"
      })
    }
    yield* peers.talk({ ports, roomSize: members, talkers, talk, jitterMs })
    yield* Effect.sleep(200)
    const beganAt = nowMs()
    for (const [index, leg] of legs.entries()) {
      const room = roomIds[Math.floor(index / members)]
      if (room !== undefined) yield* thread.enter(leg, room, MemberId.make(leg))
    }
    const joinsPerSecond = (legs.length * 1000) / (nowMs() - beganAt)
    yield* Effect.sleep(settleMs)
    const measured = yield* observed(seconds)
    let cutMs = NaN
    const [room, leg] = [roomIds[0], legs[0]]
    if (talk === "loud" && room !== undefined && leg !== undefined) {
      const mutedAt = nowMs()
      yield* thread.mute(room, MemberId.make(leg))
      yield* Effect.sleep(300)
      const { departures } = yield* peers.take
      cutMs = Math.max(0, ...departures.flatMap(({ atMs, isLoud }) => (isLoud ? [atMs - mutedAt] : [])))
    }
    yield* peers.stop
    for (const each of [...legs, ...roomIds]) yield* thread.close(each)
    return { ...measured, joinsPerSecond, cutMs } satisfies Round
  })

  const results = yield* Rounds.interleaved(rounds, {
    floor,
    ten: round({ rooms: 1, members: 10, talk: "words", talkers: 3 }),
    fifty: round({ rooms: 1, members: 50, talk: "words", talkers: 5 }),
    large: round({ rooms: 1, members: 250, talk: "words", talkers: 5 }),
    many: round({ rooms: 50, members: 5, talk: "words", talkers: 2 }),
    // There are many rooms, because a delay depends on the phases of the talker's packets and the room's mixes within
    // 20 ms.
    bursts: round({ rooms: 10, members: 10, talk: "bursts", talkers: 5, seconds: 20 }),
    jittered: round({ rooms: 10, members: 10, talk: "bursts", talkers: 5, seconds: 20, jitterMs: 8 }),
    muted: round({ rooms: 1, members: 50, talk: "loud", talkers: 1 })
  })

  const cores = (of: ReadonlyArray<Round>) => Rounds.median(of.map((round) => round.cores))
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  const sum = (of: ReadonlyArray<Round>, what: (round: Round) => number) =>
    of.reduce((total, round) => total + what(round), 0)
  const late = (of: ReadonlyArray<Round>) => sum(of, (round) => round.late) / sum(of, (round) => round.frames)
  const delay = (of: ReadonlyArray<Round>, p: number) =>
    Rounds.percentile(Float64Array.from(of.flatMap((round) => round.delays)).sort(), p)
  const delays = (of: ReadonlyArray<Round>) => `${delay(of, 0.5).toFixed(1)} / ${delay(of, 0.99).toFixed(1)}`
  const waited = (of: ReadonlyArray<Round>) => percent(Rounds.median(of.map((round) => round.waited)))
  const peersOf = (of: ReadonlyArray<Round>) =>
    `${percent(Rounds.median(of.map((round) => round.peers.cores)))} / ${Math.max(...of.map((round) => round.peers.longestPauseMs)).toFixed(1)}`
  const { bursts, fifty, floor: bareOf, jittered, large, many, muted, ten } = results
  const cut = Math.max(...muted.map(({ cutMs }) => cutMs))
  return [
    Report.figure("a room of 10, share of a core", percent(cores(ten))),
    Report.figure("a room of 50", percent(cores(fifty))),
    Report.against("a room of 250", percent(cores(large)), "< 60 %", cores(large) < 0.6),
    Report.against(
      "  frames more than 10 ms late",
      `${(100 * late(large)).toFixed(3)} %`,
      "< 0.1 %",
      late(large) < 0.001
    ),
    Report.figure("  bare dgram, as many packets", percent(cores(bareOf))),
    Report.figure("    more than 10 ms late", `${(100 * late(bareOf)).toFixed(3)} %`),
    Report.figure("    waited for a core", waited(bareOf)),
    Report.figure("  the media thread waited for a core, share of the time", waited(large)),
    Report.figure("  packets lost on the way", String(sum(large, (round) => round.lost))),
    Report.figure("  the far ends: share of a core / longest pause, ms", peersOf(large)),
    Report.figure("50 rooms of 5", percent(cores(many))),
    Report.figure("  frames more than 10 ms late", `${(100 * late(many)).toFixed(3)} %`),
    Report.figure("  waited for a core", waited(many)),
    Report.figure("  the far ends", peersOf(many)),
    Report.against("packet in to packet out, p50 ms", delay(bursts, 0.5).toFixed(1), "< 45", delay(bursts, 0.5) < 45),
    Report.against("  p99", delay(bursts, 0.99).toFixed(1), "< 65", delay(bursts, 0.99) < 65),
    Report.figure("  of so many", Report.number(sum(bursts, (round) => round.delays.length))),
    Report.figure("  with 8 ms of jitter, p50 / p99", delays(jittered)),
    Report.figure("from mute to the last packet with the member, ms", cut.toFixed(1)),
    Report.figure(
      "joins a second into one room of 250",
      Report.number(Rounds.median(large.map(({ joinsPerSecond }) => joinsPerSecond)))
    )
  ]
}).pipe(Effect.orDie)
