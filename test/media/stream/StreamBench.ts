import type { LegId } from "../../../src/domain/Id.ts"
import type { Event } from "../../../src/media/plane/Protocol.ts"
import type { Options, StartStream } from "../../../src/ports/media/StreamMessages.ts"
import * as Common from "../../../src/media/stream/dialect/Common.ts"
import type { StreamAsk } from "../../../src/media/stream/dialect/StreamMessage.ts"
import * as Ids from "../../support/Ids.ts"
import * as SwitchBench from "../SwitchBench.ts"
import * as FakeSocket from "./FakeSocket.ts"

export const options = (change: Partial<Options> = {}): Options => ({
  url: "wss://agent.example/socket?token=1",
  token: null,
  protocol: "telnyx",
  track: "inbound_track",
  codec: "PCMU",
  rate: null,
  hears: "rtp",
  parameters: [],
  ...change
})

export const start = (change: Partial<Options> = {}, id = "one"): StartStream => ({
  type: "start_stream",
  id: Ids.work(id),
  streamId: Ids.stream(`svc_stream_${id}`),
  options: options(change),
  of: {
    tenantId: Ids.tenant("tenant"),
    callId: Ids.call("call"),
    legId: Ids.leg("leg"),
    from: "+12025550150",
    to: "+12025550100"
  }
})

/** A message that the server got, and when. */
export interface Got {
  readonly at: number
  readonly event: string
  readonly message: Message
}

/** The parts of all messages. */
interface Message {
  readonly event: string
  readonly sequence_number: string
  readonly occurred_at: string
  readonly start: { readonly media_format: unknown }
  readonly media: {
    readonly track: string
    readonly chunk: string
    readonly timestamp: string
    readonly payload: string
  }
  readonly mark: { readonly name: string; readonly cleared?: boolean }
  readonly dtmf: { readonly digit: string }
  readonly payload: { readonly code: number }
}

export const pinned = {
  addresses: ["192.0.2.1"],
  port: 443,
  host: "agent.example",
  secure: true,
  path: "/socket?token=1",
  authorities: null
}

/**
 * A switch whose streams lead to servers in memory. `reach` decides each connection attempt; by default every server is
 * found and accepts.
 */
export const make = (
  behaviour: {
    readonly accept?: (connection: FakeSocket.Connection, count: number) => void
    readonly reach?: (ask: Extract<StreamAsk, { readonly type: "stream_reach" }>, count: number) => boolean
  } = {}
) => {
  const accept = behaviour.accept ?? ((connection) => connection.accept())
  const opened: Array<FakeSocket.Connection> = []
  const sockets = FakeSocket.make((connection) => void opened.push(connection))
  const events: Array<Event> = []
  const asks: Array<StreamAsk> = []
  const common = Common.make({ open: sockets.open, wallClock: () => 1_700_000_000_000 })
  const later: Array<() => void> = []
  let reaches = 0
  let accepts = 0
  const bench = SwitchBench.make({
    streams: common,
    emit: (event) => {
      events.push(event)
      if (event.type === "stream_decode") asks.push(event)
      if (event.type !== "stream_reach") return
      asks.push(event)
      reaches++
      const found = behaviour.reach?.(event, reaches) ?? true
      if (found) later.push(() => bench.handle({ type: "stream_reached", leg: event.leg, id: event.id, pinned }))
    }
  })
  const settle = () => {
    for (;;) {
      for (const act of later.splice(0)) act()
      const [next] = opened.splice(0, 1)
      if (next === undefined) return
      accepts++
      accept(next, accepts)
    }
  }
  const got: Array<Got> = []
  let seen = 0
  const look = (now: number) => {
    const [connection] = sockets.connections.slice(-1)
    const received = connection?.received ?? []
    for (const text of received.slice(seen)) {
      // The expectations of the tests check the messages of the service.
      const message = JSON.parse(text) as Message
      got.push({ at: now, event: message.event, message })
    }
    seen = received.length
  }

  return {
    ...bench,
    events,
    asks,
    portOf: (leg: LegId): number => {
      const opened = events.find((event) => event.type === "opened" && event.leg === leg)
      return opened?.type === "opened" ? opened.port : 0
    },
    figures: common.figures,
    capacity: common.capacity,
    connections: sockets.connections,
    /** The messages that the server got. */
    got,
    of: (event: string): ReadonlyArray<Got> => got.filter((each) => each.event === event),
    socket: (): FakeSocket.Connection => {
      const connection = sockets.connections.at(-1)
      if (connection === undefined) throw new Error("nothing was connected")
      return connection
    },
    say: (message: object) => sockets.connections.at(-1)?.say(JSON.stringify(message)),
    /** Runs milliseconds one by one. */
    run: (ms: number, each: (now: number) => void = () => undefined) =>
      bench.run(ms, (now) => {
        settle()
        each(now)
        look(now)
      }),
    start: (leg: LegId, change: Partial<Options> = {}, id = "one") => {
      bench.handle({ type: "media", leg, media: start(change, id) })
      settle()
    },
    stop: (leg: LegId) => bench.handle({ type: "media", leg, media: { type: "stop_stream" } }),
    media: (leg: LegId) => events.flatMap((event) => (event.type === "media" && event.leg === leg ? [event.event] : []))
  }
}

export type StreamBench = ReturnType<typeof make>

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")
export const mediaOf = (bytes: Uint8Array) => ({ event: "media", media: { payload: base64(bytes) } })
export const markOf = (name: string) => ({ event: "mark", mark: { name } })
