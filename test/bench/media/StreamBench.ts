import { Effect } from "effect"
import { CallId, LegId, StreamId, TenantId, WorkId } from "../../../src/domain/Id.ts"
import type { StartStream } from "../../../src/ports/media/StreamMessages.ts"
import * as TestCertificate from "../../support/network/TestCertificate.ts"
import * as Child from "../load/Child.ts"
import * as Report from "../Report.ts"
import * as Rounds from "../Rounds.ts"
import * as MediaThread from "./MediaThread.ts"
import type { Listening, Measured, Question } from "./StreamPeers.process.ts"

/** The number of calls with a stream each, both ways, over TLS on loopback. */
const many = 100
const few = 10
const runMs = 6_000
const settleMs = 1_000

const startOf = (index: number): StartStream => ({
  type: "start_stream",
  id: WorkId.make(`stream ${index}`),
  streamId: StreamId.make(`svc_stream_${index}`),
  options: {
    url: "wss://127.0.0.1/",
    token: null,
    protocol: "telnyx",
    track: "inbound_track",
    codec: "PCMU",
    rate: null,
    hears: "rtp",
    parameters: []
  },
  of: {
    tenantId: TenantId.make("tenant"),
    callId: CallId.make("call"),
    legId: LegId.make("leg"),
    from: "+12025550150",
    to: "+12025550100"
  }
})

export const run = Effect.gen(function* () {
  const authority = TestCertificate.makeAuthority()
  const { cert, key } = authority.issue(["127.0.0.1"])
  const { ask } = yield* Child.start<Listening | Measured>("./media/StreamPeers.process.ts")
  const listening = yield* ask({ type: "listen", key, cert } satisfies Question)
  if (!("rtpPort" in listening)) return yield* Effect.die(new Error("the peers do not listen"))
  const { rtpPort, webSocketPort } = listening
  const thread = yield* MediaThread.start({
    bindAddress: "127.0.0.1",
    portMin: 22_000,
    portMax: 22_999,
    mediaTimeoutMs: 0,
    maxLegs: many,
    ringback: "US"
  })

  const measured = Effect.fnUntraced(function* (calls: number, streamed: boolean) {
    const legs = Array.from({ length: calls }, (_, index) => LegId.make(`${calls} ${streamed} ${index}`))
    const ports: Array<number> = []
    for (const [index, leg] of legs.entries()) {
      ports.push(yield* thread.open(leg))
      yield* thread.connect(leg, {
        address: "127.0.0.1",
        port: rtpPort,
        rtcpPort: rtpPort,
        signallingAddress: null,
        codec: "PCMU",
        fmtp: null,
        audio: { send: 0, receive: 0 },
        telephoneEvent: null,
        ptimeMs: 20,
        direction: "sendrecv"
      })
      if (streamed)
        yield* thread.stream(leg, startOf(index), {
          addresses: ["127.0.0.1"],
          port: webSocketPort,
          host: "127.0.0.1",
          secure: true,
          path: `/${index}`,
          authorities: authority.cert
        })
    }
    const before = process.cpuUsage()
    const answer = yield* ask({ type: "run", ports, ms: runMs, settleMs } satisfies Question)
    const { system, user } = process.cpuUsage(before)
    for (const leg of legs) yield* thread.close(leg)
    if (!("inbound" in answer)) return yield* Effect.die(new Error("the peers measured nothing"))
    return { ...answer, cpuShare: (system + user) / 1000 / runMs }
  })

  const plain = yield* measured(many, false)
  const one = yield* measured(few, true)
  const all = yield* measured(many, true)

  const sorted = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)
  const lines = (name: string, of: ReadonlyArray<number>, p50: number, p99: number) =>
    [
      [0.5, p50],
      [0.99, p99]
    ].map(([p = 0, goal = 0]) => {
      const value = Rounds.percentile(sorted(of), p)
      return Report.against(`${name}, p${p * 100} ms`, value.toFixed(2), `< ${goal}`, value < goal)
    })
  const each = (all.cpuShare - plain.cpuShare) / many
  return [
    ...lines(`packet to message, ${few} streams`, one.inbound, 5, 20),
    ...lines(`message to packet from an empty queue, ${few} streams`, one.outbound, 15, 30),
    ...lines(`packet to message, ${many} streams`, all.inbound, 5, 20),
    ...lines(`message to packet from an empty queue, ${many} streams`, all.outbound, 15, 30),
    Report.figure(`messages a second of ${many} streams`, Report.number((all.messages * 1000) / runMs)),
    Report.figure("CPU of a stream, both ways, µs for 20 ms", Report.number(each * 20_000)),
    Report.figure("CPU of a call and its stream, µs for 20 ms", Report.number((all.cpuShare / many) * 20_000)),
    Report.figure("calls with a stream that one core holds", Report.number(many / all.cpuShare))
  ]
}).pipe(Effect.orDie)
