import type { Codec, Encoder } from "../../../src/protocol/audio/codec/Codec.ts"
import * as Codecs from "../../../src/protocol/audio/codec/Codecs.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import type { Options } from "../../../src/ports/media/StreamMessages.ts"
import type { RtpRemote } from "../../../src/media/plane/Protocol.ts"
import * as Common from "../../../src/media/stream/dialect/Common.ts"
import * as RtpSample from "../../protocol/rtp/RtpSample.ts"
import * as Ids from "../../support/Ids.ts"
import * as FakeSocket from "../stream/FakeSocket.ts"
import * as StreamBench from "../stream/StreamBench.ts"
import * as SwitchBench from "../SwitchBench.ts"

export const [a, b] = [Ids.leg("a"), Ids.leg("b")]
const local = "127.0.0.1"
export const dynamic = 97

/** A packet that a peer has received, and when. */
export interface Received extends RtpSample.Parsed {
  readonly at: number
}

/** A peer that sends a tone, a packet every 20 ms, and keeps the packets it gets. */
const peer = (bench: ReturnType<typeof SwitchBench.make>, port: number, leg: typeof a, codec: Codec, hz: number) => {
  let encoder: Encoder = codec.encoder(null)
  let tone = Tone.oscillator([{ frequency: hz, dbfs: -12 }], codec.sampleRate)
  const samples = new Int16Array(codec.sampleRate / 50)
  const bytes = new Uint8Array(codec.frameOctets)
  const state = { ssrc: port, sequenceNumber: port & 0xffff, timestamp: (port * 1000) >>> 0, marker: false }
  const payloadType = codec.payloadType ?? dynamic
  const deliver = (packet: RtpSample.Sample) =>
    bench.network.receive({
      channel: "rtp",
      bytes: RtpSample.write(packet),
      from: { address: local, port },
      to: { address: local, port: bench.portOf(leg) }
    })
  return {
    port,
    state,
    deliver,
    /** Returns the packet of the next 20 ms. */
    make: (): RtpSample.Sample => {
      tone.render(samples)
      const payload = bytes.slice(0, encoder.encode(samples, bytes, 0))
      const packet = { ...state, payloadType, payload }
      state.sequenceNumber = (state.sequenceNumber + 1) & 0xffff
      state.timestamp = (state.timestamp + codec.clockRate / 50) >>> 0
      return packet
    },
    /** Sends another tone from now on, with another encoder, like another source. */
    restart: (ssrc: number, frequency: number) => {
      encoder = codec.encoder(null)
      tone = Tone.oscillator([{ frequency, dbfs: -12 }], codec.sampleRate)
      Object.assign(state, { ssrc, sequenceNumber: 7, timestamp: 99_000_000 })
    }
  }
}

/** Two legs that are bridged, each with a peer of this codec. */
export const make = (name: Codecs.CodecName, change: Partial<RtpRemote> = {}) => {
  const sockets = FakeSocket.make((connection) => later.push(connection.accept))
  const later: Array<() => void> = []
  const bench = SwitchBench.make({ streams: Common.make({ open: sockets.open, wallClock: () => 0 }) })
  const codec = Codecs.table[name]
  const payloadType = codec.payloadType ?? dynamic
  const encoding = { codec: name, audio: { send: payloadType, receive: payloadType }, ...change }
  for (const leg of [a, b]) bench.handle({ type: "open_rtp", leg })
  const peers = { a: peer(bench, 9000, a, codec, 440), b: peer(bench, 9100, b, codec, 550) }
  const connect = (leg: typeof a, more: Partial<RtpRemote> = {}) =>
    bench.handle({
      type: "connect_rtp",
      leg,
      remote: bench.remote(leg === a ? 9000 : 9100, { ...encoding, ...more })
    })
  connect(a)
  connect(b)
  let [asked, taken] = [0, 0]
  /** Makes every server reachable and willing to accept. */
  const reach = () => {
    for (; asked < bench.events.length; asked++) {
      const event = bench.events[asked]
      if (event?.type === "stream_reach")
        bench.handle({ type: "stream_reached", leg: event.leg, id: event.id, pinned: StreamBench.pinned })
    }
    for (const act of later.splice(0)) act()
  }
  const arrivedAt: Array<number> = []
  let ms = 0
  const rig = {
    bench,
    codec,
    peers,
    connect,
    /** Lets time pass; `each` lets the peers act in each millisecond: by default each sends a packet every 20 ms. */
    run: (duration: number, each: (ms: number) => void = rig_default) => {
      for (let i = 0; i < duration; i++) {
        each(ms)
        bench.run(1)
        reach()
        ms++
        while (arrivedAt.length < bench.network.sent.length) arrivedAt.push(ms)
      }
    },
    ms: () => ms,
    /** Starts a stream of both tracks; the socket of the newest is `server()`. */
    stream: (leg: typeof a, id: string, change: Partial<Options> = {}) =>
      bench.handle({ type: "media", leg, media: StreamBench.start({ track: "both_tracks", ...change }, id) }),
    server: () => {
      const connection = sockets.connections.at(-1)
      if (connection === undefined) throw new Error("nothing was connected")
      return connection
    },
    bridge: () => bench.handle({ type: "bridge", leg: a, peer: b }),
    /** Returns the packets that the peer of a leg got since the last call for any leg. */
    received: (leg: typeof a): ReadonlyArray<Received> => {
      const all = bench.network.sent.slice(taken)
      const from = bench.portOf(leg)
      return all.flatMap((datagram, i) =>
        datagram.channel === "rtp" && datagram.from.port === from
          ? [{ ...RtpSample.parse(datagram.bytes), at: arrivedAt[taken + i] ?? 0 }]
          : []
      )
    },
    forget: () => {
      taken = bench.network.sent.length
    }
  }
  function rig_default(at: number): void {
    if (at % 20 === 4) peers.a.deliver(peers.a.make())
    if (at % 20 === 13) peers.b.deliver(peers.b.make())
  }
  return { ...rig, usual: rig_default, payloadType }
}

/** The sound of packets in the order of their timestamps. */
export const soundOf = (packets: ReadonlyArray<Received>, codec: Codec): Int16Array => {
  const decoder = codec.decoder()
  const frame = new Int16Array((codec.sampleRate * 120) / 1000)
  const sorted = packets.toSorted((one, other) => (one.timestamp - other.timestamp) | 0)
  const sound = sorted.flatMap(({ payload }) => [...frame.subarray(0, decoder.decode(payload, frame))])
  decoder.free()
  return Int16Array.from(sound)
}
