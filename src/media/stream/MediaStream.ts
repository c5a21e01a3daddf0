import type { MediaEvent } from "../../ports/media/MediaMessage.ts"
import type * as Message from "../../ports/media/StreamMessages.ts"
import * as StreamField from "../../domain/schema/StreamField.ts"
import type { FarEnd } from "../FarEnd.ts"
import type { Mix } from "../mix/Mix.ts"
import type { Source } from "../mix/Source.ts"
import type { Taps } from "../mix/Tap.ts"
import * as ClientMessage from "./dialect/ClientMessage.ts"
import type { Common } from "./dialect/Common.ts"
import * as StreamSocket from "./StreamSocket.ts"
import type { About, Complaint } from "./dialect/StreamDialect.ts"
import { dialects } from "./dialect/Dialects.ts"
import * as LongMessage from "./dialect/LongMessage.ts"
import * as HoldTone from "./HoldTone.ts"
import * as Listening from "./Listening.ts"
import * as ReadBudget from "./ReadBudget.ts"
import * as SendQueue from "./SendQueue.ts"
import * as StreamFormat from "./dialect/StreamFormat.ts"
import type { StreamAnswer, StreamAsk } from "./dialect/StreamMessage.ts"
import * as Talking from "./playout/Talking.ts"

/** The most octets that are handed over before the network takes them. */
const mostBuffered = 8 * 1024
/** The shortest time between two complaints of one kind. */
const complainEveryMs = 1000

export interface MediaStream {
  readonly id: Message.StartStream["id"]
  readonly answer: (answer: StreamAnswer) => void
  readonly digit: (digit: string, at: number) => void
  /** Called once a round, after the frames. */
  readonly tick: (now: number) => void
  /** Returns every mark, then notifies the server, and closes the socket. Reports its end, once. */
  readonly stop: () => void
}

/**
 * A media stream: its connection, and the messages both ways, guide/streams.md.
 *
 * A stream has one connection at a time. The end of the socket ends the stream, unless it is to connect again, and
 * never the leg. The server can affect only this stream: both its input is bounded (`ReadBudget`, `Playout`,
 * `LongMessage`), and the messages that wait for it (`SendQueue`).
 */
export const make = (
  start: Message.StartStream,
  leg: { readonly far: FarEnd; readonly mix: Mix; readonly taps: Taps },
  { capacity, figures, givenUp, open, reading, wallClock }: Common,
  options: {
    readonly clock: () => number
    readonly ask: (ask: StreamAsk) => void
    readonly emit: (event: MediaEvent) => void
    readonly onDefect: (error: unknown) => void
    /** It has ended; the leg may have another. */
    readonly over: () => void
  }
): MediaStream => {
  const { ask, clock, emit, onDefect } = options
  const { id } = start
  const { hears, protocol, token, track, url } = start.options
  const tenant = start.of.tenantId
  const { host } = new URL(url)
  const dialect = dialects[protocol]
  const queue = SendQueue.make()
  const budget = ReadBudget.make(reading, tenant, clock())
  /** Whether the start was sent to the server, so that the stream counts as open. */
  let isTold = false
  let isPaused = false
  /** Whether the stream had a connection before, and the sound that its leg hears while it has none. */
  let isAgain = false
  let hold: Source | null = null
  let isOver = false
  let faults = 0
  let complainedAt: Partial<Record<Complaint, number>> = {}
  /** Set when the leg can be heard, or the socket is open. */
  let started: {
    readonly about: About
    readonly listening: Listening.Listening
    readonly talking: Talking.Talking | null
  } | null = null
  let counted = { droppedMs: 0, underruns: 0 }

  const startSound = (now: number): NonNullable<typeof started> => {
    if (started !== null) return started
    const format = StreamFormat.choose(start.options, leg.far)
    const listening = Listening.make({
      tracks: track,
      format,
      jitterMs: start.options.jitterMs ?? StreamField.jitter[hears === null ? "listening" : "least"],
      far: leg.far,
      now,
      tell: queue.sound,
      told: flush,
      ended: (reason) => {
        if (reason !== "closed") fail("carrier_error", `the stream was ${reason}`)
      }
    })
    const talking =
      hears === null
        ? null
        : Talking.make({
            hears,
            format,
            now,
            capacity: capacity.of(tenant),
            complain,
            marked: ({ isCleared, name }) =>
              queue.say((sequence) => dialect.mark({ stream: start, format: format.told }, name, isCleared, sequence)),
            decode: (file, bytes) => ask({ type: "stream_decode", id, file, bytes })
          })
    started = { about: { stream: start, format: format.told }, listening, talking }
    if (talking !== null) leg.mix.add(talking.source, "stream")
    if (!leg.taps.add(listening.tap)) fail("carrier_error", "too much listens on this call")
    return started
  }

  const count = (): void => {
    const said = started?.talking?.figures() ?? { underruns: 0, dropped: 0, rate: 8000 }
    const droppedMs = queue.droppedMs() + (said.dropped * 1000) / said.rate
    figures.droppedMs += droppedMs - counted.droppedMs
    figures.underruns += said.underruns - counted.underruns
    counted = { droppedMs, underruns: said.underruns }
  }

  /** Sends what the network takes. */
  const flush = (most = mostBuffered): void => {
    const present = started
    if (!connection.isOpen() || present === null) return
    queue.handOver(
      {
        takes: () => connection.bufferedBytes() < most,
        send: connection.send,
        spell: (media, sequence) => dialect.media(present.about, media, sequence)
      },
      clock()
    )
  }

  const finish = (status: "stopped" | "failed", reason: string | null): void => {
    if (isOver) return
    isOver = true
    budget.leave()
    endHold()
    if (started !== null) {
      const { about, listening, talking } = started
      count()
      talking?.end()
      leg.taps.remove(listening.tap)
      if (talking !== null) leg.mix.remove(talking.source)
      listening.free()
      if (connection.isOpen()) {
        queue.say((sequence) => dialect.stop(about, sequence))
        flush(StreamSocket.mostBuffered)
      }
    }
    if (isTold) figures.open--
    connection.close(status === "failed" ? 1011 : 1000)
    emit({ type: "ended", id, status, reason })
    options.over()
  }

  const fail = (failure: Message.Failure, detail: string): void => {
    if (isOver) return
    figures.failed[failure]++
    if (failure === "protocol_error") givenUp.gaveUp(tenant, host, clock())
    finish("failed", `${failure}: ${detail}`)
  }

  const complain = (complaint: Complaint): void => {
    const now = clock()
    if (complaint === "malformed_frame" && ++faults >= ReadBudget.limits.faults)
      return fail("protocol_error", "the server sends what is no message")
    if (dialect.error === null || now - (complainedAt[complaint] ?? Number.NEGATIVE_INFINITY) < complainEveryMs) return
    complainedAt = { ...complainedAt, [complaint]: now }
    const { error } = dialect
    const { about } = startSound(now)
    queue.say((sequence) => error(about, complaint, sequence))
  }

  /** Runs a callback so that no error caused by the server reaches the thread. */
  const guarded = (act: () => void): void => {
    if (isOver) return
    try {
      act()
    } catch (error) {
      onDefect(error)
      fail("carrier_error", "a fault of the service")
    }
  }

  const opened = (): void => {
    isTold = true
    isPaused = false
    figures.open++
    const { about } = startSound(clock())
    endHold()
    queue.resumed()
    // Earlier sound is queued, and follows these messages.
    connection.send(dialect.connected())
    connection.send(dialect.start(about, queue.number(), isAgain))
    if (!isAgain) emit({ type: "stream_started", id })
    isAgain = true
    flush()
  }

  const endHold = (): void => {
    if (hold !== null) leg.mix.remove(hold)
    hold = null
  }

  /** The server is away: nothing that it sent is played any more, and its marks wait for it, cleared. */
  const lost = (): void => {
    isTold = false
    figures.open--
    const talking = started?.talking ?? null
    if (talking === null) return
    talking.clear()
    hold = HoldTone.make()
    leg.mix.add(hold, "hold")
  }

  const heard = (bytes: Uint8Array | null): void => {
    const { talking } = startSound(clock())
    if (talking === null || bytes === null) complain("invalid_media")
    else talking.media(bytes, clock())
  }

  const said = (read: ClientMessage.ClientMessage): void => {
    const { talking } = startSound(clock())
    if (read.type !== "malformed") faults = 0
    switch (read.type) {
      case "media":
        return heard(talking === null ? null : ClientMessage.bytesOf(read.payload))
      case "mark":
        return talking?.mark(read.name)
      case "clear":
        return talking?.clear()
      case "other":
        return
      case "invalid_media":
        return complain("invalid_media")
      case "malformed":
        return complain("malformed_frame")
    }
  }

  const pause = (): void => {
    isPaused = true
    connection.pause()
  }

  /** Reads no more while many answers wait for the server, so that it is not cut off for what it has sent already. */
  const waitForReader = (): void => {
    if (queue.isFull()) pause()
  }

  const connection = StreamSocket.make({
    open,
    tenant,
    againMs: (start.options.reconnectSecs ?? 0) * 1000,
    lost,
    waitMs: givenUp.waitMs(tenant, host, clock()),
    token,
    clock,
    reach: (timeoutMs) => ask({ type: "stream_reach", id, url, timeoutMs }),
    guarded,
    opened,
    said: (message) => {
      said(typeof message === "string" ? ClientMessage.read(message) : { type: "malformed" })
      flush()
      waitForReader()
    },
    saidLong: (text) => {
      const long = LongMessage.make(text)
      return () => {
        const outcome = long.next()
        if (outcome === null) return true
        if (outcome.type === "sound") {
          faults = 0
          heard(outcome.bytes)
        } else said(outcome.message)
        flush()
        waitForReader()
        return false
      }
    },
    read: (octets, frames) => {
      if (!budget.take(octets, frames)) pause()
    },
    closed: (failure, detail) => (failure === null ? finish("stopped", null) : fail(failure, detail)),
    failed: fail
  })

  connection.start()
  return {
    id,
    answer: (answer) =>
      guarded(() => {
        switch (answer.type) {
          case "stream_reached":
            return connection.reached(answer.pinned)
          case "stream_unreachable":
            return connection.unreachable(answer.detail, answer.isFinal)
          case "stream_sound":
            return started?.talking?.sound(answer.file, answer.samples, answer.isLast, clock())
          case "stream_sound_failed":
            complain("invalid_media")
            return started?.talking?.sound(answer.file, null, true, clock())
        }
      }),
    digit: (digit, at) => {
      const { dtmf } = dialect
      if (dtmf === null || started === null || (protocol === "twilio" && hears === null)) return
      const { about } = started
      const occurredAt = new Date(wallClock() - (clock() - at)).toISOString()
      queue.say((sequence) => dtmf(about, digit, occurredAt, sequence))
      guarded(flush)
    },
    tick: (now) =>
      guarded(() => {
        if (started === null && leg.far.ready()) startSound(now)
        started?.listening.tick(now)
        const mayRead = budget.mayRead(now) && !queue.isFull()
        if (isPaused && mayRead) {
          isPaused = false
          connection.resume()
        }
        if (!connection.isOpen()) return connection.tick(now)
        flush()
        count()
        if (queue.isTooSlow(now)) fail("connection_failed", "the server reads too slowly")
      }),
    stop: () => {
      try {
        finish("stopped", null)
      } catch (error) {
        onDefect(error)
      }
    }
  }
}
