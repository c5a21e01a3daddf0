import type { LegId } from "../../src/domain/Id.ts"
import type { MediaEvent } from "../../src/ports/media/MediaMessage.ts"
import type { Command, Event, Quality, RtpRemote } from "../../src/media/plane/Protocol.ts"
import * as Switch from "../../src/media/plane/Switch.ts"
import { random } from "../protocol/rtp/RandomBytes.ts"
import * as Ids from "../support/Ids.ts"
import * as MemoryNetwork from "./support/MemoryNetwork.ts"
import * as NoStreams from "./stream/NoStreams.ts"

/** A switch over a network in memory, with a clock that only `run` moves. */
export const make = (options: Partial<Switch.Options> = {}, weather?: MemoryNetwork.Weather) => {
  const network = MemoryNetwork.make(weather)
  const noise = random(11)
  const events: Array<Event> = []
  let now = 1000
  const plane = Switch.make({
    ports: network.port,
    emit: (event) => void events.push(event),
    random: () => Math.floor(noise() * 0x1_0000_0000),
    clock: () => now,
    wallClock: () => 1_700_000_000_000 + now,
    mediaTimeoutMs: 0,
    maxLegs: 100,
    streams: NoStreams.make(),
    onDefect: (error) => {
      throw error
    },
    ...options
  })
  const mediaOf = (leg: LegId): Array<MediaEvent> =>
    events.flatMap((event) => (event.type === "media" && event.leg === leg ? [event.event] : []))
  const lossesOf = (leg: LegId) =>
    events.flatMap((event) => (event.type === "lost" && event.leg === leg ? [event.reason] : []))
  const lastQualityOf = (leg: LegId): Quality | undefined =>
    events.flatMap((event) => (event.type === "quality" && event.leg === leg ? [event.quality] : [])).at(-1)
  const portOf = (leg: LegId): number => {
    for (const event of events) if (event.type === "opened" && event.leg === leg) return event.port
    return 0
  }
  return {
    network,
    events,
    plane,
    mediaOf,
    lossesOf,
    lastQualityOf,
    portOf,
    handle: (command: Command) => plane.handle(command, now),
    /** Runs milliseconds one by one: the network, the switch, then `each`. */
    run: (ms: number, each: (now: number) => void = () => undefined) => {
      for (const end = now + ms; now < end;) {
        now++
        network.deliver(now)
        plane.tick(now)
        each(now)
      }
    },
    /** Lets time pass without running anything. */
    stall: (ms: number) => {
      now += ms
    },
    remote: (port: number, change: Partial<RtpRemote> = {}): RtpRemote => ({
      address: "127.0.0.1",
      port,
      rtcpPort: port + 1,
      signallingAddress: null,
      codec: "PCMU",
      fmtp: null,
      audio: { send: 0, receive: 0 },
      telephoneEvent: { send: 101, receive: 101, clockRate: 8000 },
      ptimeMs: 20,
      direction: "sendrecv",
      ...change
    }),
    digitsOf: (leg: LegId): string =>
      mediaOf(leg)
        .map((event) => (event.type === "dtmf" ? event.digit : ""))
        .join("")
  }
}

/** Two RTP legs of one switch that are each other's peer. */
export const pair = (
  options: Partial<Switch.Options> = {},
  weather?: MemoryNetwork.Weather,
  change: Partial<RtpRemote> = {}
) => {
  const bench = make(options, weather)
  for (const leg of ["a", "b"].map(Ids.leg)) bench.handle({ type: "open_rtp", leg })
  bench.handle({ type: "connect_rtp", leg: Ids.leg("a"), remote: bench.remote(bench.portOf(Ids.leg("b")), change) })
  bench.handle({ type: "connect_rtp", leg: Ids.leg("b"), remote: bench.remote(bench.portOf(Ids.leg("a")), change) })
  return bench
}
