import * as Codecs from "../../protocol/audio/codec/Codecs.ts"
import * as RtpPacket from "../../protocol/rtp/RtpPacket.ts"
import type { Arrived, FarEnd, OnDigit, PacketFormat } from "../FarEnd.ts"
import type { Address, Channel, Destination, PacketSocket } from "./PacketPort.ts"
import type { LegEvent, RtpRemote } from "../plane/Protocol.ts"
import * as FastPath from "./FastPath.ts"
import * as PacketPath from "./PacketPath.ts"
import type { PacketSink } from "./PacketSink.ts"
import * as LegQuality from "./LegQuality.ts"
import * as RtcpSession from "./RtcpSession.ts"
import * as RtpReceiver from "./RtpReceiver.ts"
import * as RtpSender from "./RtpSender.ts"
import * as SourceLatch from "./SourceLatch.ts"

interface Options {
  /** Returns 32 bits, uniformly distributed and unsigned. */
  readonly random: () => number
  /** Epoch milliseconds, for sender reports. */
  readonly wallClock: () => number
  /** 0: never. */
  readonly mediaTimeoutMs: number
  readonly emit: (event: LegEvent) => void
  readonly onDigit: OnDigit
  /** The key of the last digit is still held: a further packet of it came. `at` is in milliseconds of the plane. */
  readonly onHeld: (at: number) => void
}

interface Counters {
  /** Datagrams that were neither RTP nor RTCP. */
  malformed: number
  /** Datagrams before `connect`, or while we do not listen. */
  unwanted: number
}

/** The state of a leg whose peer is known. */
interface Session {
  remote: RtpRemote
  format: PacketFormat
  readonly latch: SourceLatch.SourceLatch
  /** The source of the RTCP of a peer behind a NAT. */
  control: Address | null
  /** The destination of our RTP; `null` until something is sent there. */
  destination: Destination | null
}

/** After this long without a packet, the other side is sent silence. Opus sends one every 400 ms in silence. */
const patienceMs = 500
/**
 * More time than this between two looks does not count as the peer's silence: the thread stood still, and the packets
 * that came meanwhile wait to be read. A leg whose packets come looks less often.
 */
const mostLookMs = 1_000
/** Sound that was forwarded longer ago has faded out at the peer. */
const staleMs = 60

const formatOf = ({ codec, telephoneEvent }: RtpRemote): PacketFormat => ({
  codec,
  telephoneEvents: telephoneEvent?.clockRate ?? null
})

export type RtpLeg = ReturnType<typeof make>

/** The far end of a leg that is an RTP peer: packets in and out, with their control. */
export const make = ({ emit, mediaTimeoutMs, onDigit, onHeld, random, wallClock }: Options) => {
  /** The timestamp of the last press that is not passed on, because the peer's signalling brought its digit before. */
  let withheld: number | null = null
  const receiver = RtpReceiver.make((digit, packet) => {
    if (!onDigit(digit, sink?.takesEvent(packet) ?? false)) withheld = receiver.pressTimestamp()
  })
  const sender = RtpSender.make({ ssrc: random(), sequenceNumber: random(), timestamp: random() })
  const cname = [random(), random(), random()].map((word) => word.toString(16).padStart(8, "0")).join("")
  const rtcp = RtcpSession.make({ ssrc: sender.ssrc, cname, random, wallClock })
  const read = RtpPacket.reader()
  const counters: Counters = { malformed: 0, unwanted: 0 }
  let socket: PacketSocket | null = null
  let session: Session | null = null
  let overheard: Arrived | null = null
  /** The sink that packets are forwarded to as they come; null: none. */
  let sink: PacketSink | null = null
  let passedAt = 0
  let heardAt = 0
  /** When the last packet of sound or digits came, or the leg was pointed at its peer after that. */
  let soundAt = 0
  let timedOut = false
  let lookedAt = 0
  /** How long the peer has been silent, as far as this thread could know. */
  let silentMs = 0
  let reportedPackets = 0
  const fast = FastPath.make(receiver.recent, (packet, duration, at) => {
    if (session === null) return false
    session.latch.accept(session.latch.remote(), packet, at)
    return receiver.followed(packet, duration, at)
  })

  const sends = ({ remote }: Session) => remote.direction === "sendrecv" || remote.direction === "sendonly"
  const listens = ({ remote }: Session) => remote.direction === "sendrecv" || remote.direction === "recvonly"

  const alive = (now: number) => {
    heardAt = now
    timedOut = false
  }

  /** Books the packets of the fast path, before anything else is done with received packets. */
  const settle = (): void => {
    fast.settle()
    const at = fast.heardAt()
    if (at <= heardAt) return
    alive(at)
    soundAt = at
    passedAt = at
  }

  const receiveControl = (session: Session, bytes: Uint8Array, from: Address, now: number) => {
    if (!session.latch.acceptsControl(from)) return
    if (!rtcp.receive(bytes, now, Codecs.table[session.remote.codec].clockRate)) {
      counters.malformed++
      return
    }
    sender.reported((rtcp.reported()?.block.fractionLost ?? 0) / 256)
    if (from.address === session.latch.remote().address) session.control = { address: from.address, port: from.port }
    alive(now)
  }

  const receiveMedia = (session: Session, bytes: Uint8Array, from: Address, now: number) => {
    const packet = read(bytes)
    if (typeof packet === "string") {
      counters.malformed++
      return
    }
    if (!session.latch.accept(from, packet, now)) return
    if (session.destination !== null && session.destination.address !== session.latch.remote()) incoming.settle()
    alive(now)
    soundAt = now
    const codec = receiver.receive(packet, session.remote, now)
    if (receiver.isHeld()) onHeld(now)
    if (codec !== null) overheard?.(packet, codec, now)
    if (sink !== null) passOn(sink, session, packet, codec, now)
  }

  /** Forwards a packet; it is the last step, because it overwrites the header. */
  const passOn = (
    to: PacketSink,
    { latch, remote }: Session,
    packet: RtpPacket.RtpPacket,
    codec: Codecs.CodecName | null,
    now: number
  ): void => {
    if (!receiver.isEvent() && (codec !== remote.codec || receiver.usable() === 0)) return
    passedAt = now
    if (receiver.isEvent() && receiver.pressTimestamp() === withheld) return
    const duration = receiver.usable()
    to.pass(packet, duration, now, duration === 0 ? receiver.eventTimestamp() : packet.timestamp)
    if (duration === 0 || overheard !== null || receiver.isHeard()) return
    const { clockRate, isPlain } = Codecs.table[remote.codec]
    const durationOf = isPlain ? null : receiver.durationOf()
    fast.start(to, { packet, duration, clockRate, durationOf, from: latch.remote() }, now)
  }

  const controlAddress = ({ control, latch, remote }: Session): Address => {
    if (!latch.isTranslated()) return { address: remote.address, port: remote.rtcpPort }
    const { address, port } = latch.remote()
    return control?.address === address ? control : { address, port: Math.min(port + 1, 65_535) }
  }

  const sendControl = (session: Session, bytes: Uint8Array) =>
    socket?.prepare("rtcp", controlAddress(session)).send(bytes)

  const destinationOf = (session: Session, from: PacketSocket): Destination => {
    const address = session.latch.remote()
    const known = session.destination
    if (known?.address === address) return known
    session.destination = from.prepare("rtp", address)
    return session.destination
  }

  const said = (): RtcpSession.Said => {
    const sent = sender.sent()
    const isSender = sent.packets !== reportedPackets
    reportedPackets = sent.packets
    return { sent: isSender ? sent : null, received: receiver.report() }
  }

  /** The packets that a peer which has vanished should have sent: it fell silent in the middle of a call. */
  const missing = (now: number): number =>
    timedOut ? Math.max(0, Math.floor((now - soundAt) / receiver.packetMs())) : 0

  const quality = ({ remote: { codec } }: Session, now: number) => {
    const { concealed, late, overflow } = receiver.counters()
    const reported = rtcp.reported()
    const { jitterSamples: _, ...totals } = receiver.totals()
    emit({
      type: "quality",
      quality: LegQuality.of({
        codec,
        ...totals,
        packetsLost: totals.packetsLost + missing(now),
        packetsSent: sender.sent().packets,
        packetsLate: late + overflow,
        framesConcealed: concealed,
        roundTripMs: rtcp.roundTripMs(),
        reported:
          reported === null
            ? null
            : {
                packetsLost: Math.max(0, reported.block.cumulativeLost),
                jitterMs: reported.jitterMs,
                jitterMeanMs: reported.jitterMeanMs,
                jitterMaxMs: reported.jitterMaxMs
              },
        bufferMs: receiver.bufferMs()
      })
    })
  }

  const watch = (session: Session, now: number) => {
    if (rtcp.isDue(now)) {
      settle()
      incoming.settle()
      sendControl(session, rtcp.report(said(), now))
      quality(session, now)
    }
    const at = Math.max(heardAt, fast.heardAt())
    silentMs = (at >= lookedAt ? 0 : silentMs) + Math.min(mostLookMs, now - Math.max(at, lookedAt))
    lookedAt = now
    // A peer that holds may send nothing, RFC 3264 section 8.4. The timeout applies again when it resumes.
    const isHeld = session.remote.direction !== "sendrecv"
    if (mediaTimeoutMs === 0 || timedOut || isHeld || silentMs < mediaTimeoutMs) return
    timedOut = true
    emit({ type: "lost", reason: "no_packets" })
  }

  const lastPassedAt = (): number => Math.max(passedAt, fast.heardAt())

  const isPassing = (now: number): boolean => sink !== null && now - lastPassedAt() < patienceMs

  const incoming = PacketPath.make({
    sender,
    encoding: () => (session === null || socket === null || !sends(session) ? null : session.remote),
    destination: () => (session === null || socket === null ? null : destinationOf(session, socket))
  })

  const far: FarEnd = {
    rate: () => (session === null ? 8000 : Codecs.table[session.remote.codec].sampleRate),
    ready: () => session !== null && socket !== null,
    say: (out, now) => {
      if (session === null) {
        out.samples.fill(0)
        return false
      }
      const pulled = receiver.pull(out, now)
      watch(session, now)
      return pulled !== "idle"
    },
    hear: (frame) => {
      if (session === null || socket === null) return
      incoming.settle()
      if (!sends(session)) return sender.hold()
      const { remote } = session
      for (let length = sender.next(frame, remote); length > 0; length = sender.more(remote))
        destinationOf(session, socket).send(sender.bytes, length)
    },
    press: (digit, durationMs) => {
      if (session === null || session.remote.telephoneEvent === null) return false
      incoming.settle()
      if (!sends(session)) return true
      const length = sender.flush(session.remote)
      if (length > 0 && socket !== null) destinationOf(session, socket).send(sender.bytes, length)
      sender.press(digit, durationMs, session.remote)
      return true
    },
    pressesTones: () => session !== null && session.remote.telephoneEvent === null,
    hasPackets: true,
    overhear: (arrived) => {
      settle()
      overheard = arrived
    },
    packetFormat: () => {
      if (session?.remote.direction !== "sendrecv") return null
      // The peer may have changed its codec without notice.
      return (receiver.heardIn() ?? session.remote.codec) === session.remote.codec ? session.format : null
    },
    sink: incoming,
    forward: (to, isHeard, now) => {
      settle()
      if (sink !== null) {
        receiver.listen(isHeard, now)
        return isPassing(now)
      }
      const start = receiver.boundary()
      if (start === null || !to.start(start, now)) return false
      for (const packet of receiver.since(start))
        to.pass({ ...packet, bytes: packet.bytes.slice() }, packet.duration, now)
      sink = to
      passedAt = now
      receiver.listen(isHeard, now)
      return true
    },
    attend: (now) => {
      if (session !== null) watch(session, now)
      return isPassing(now) ? Math.min(rtcp.dueAt(), lastPassedAt() + patienceMs) : null
    },
    recall: (now) => {
      if (sink === null) return null
      settle()
      sink.end(now)
      sink = null
      receiver.listen(true, now)
      return now - passedAt < staleMs ? receiver.newest() : null
    },
    prime: (sound) => {
      if (session !== null) sender.prime(sound, session.remote)
    },
    skip: (frames) => {
      if (!incoming.isOpen()) sender.skip(frames)
    },
    close: (now) => {
      settle()
      incoming.settle()
      const [present, bound] = [session, socket]
      try {
        if (present !== null) {
          sendControl(present, rtcp.bye(said(), now))
          quality(present, now)
        }
      } finally {
        socket = null
        session = null
        sender.close()
        receiver.close()
        bound?.close()
      }
    }
  }

  return {
    far,
    attach: (bound: PacketSocket): void => {
      socket = bound
    },
    /** Points the leg at its peer, for the first time or again. */
    connect: (remote: RtpRemote, now: number): void => {
      alive(now)
      soundAt = now
      if (session === null) {
        session = {
          remote,
          format: formatOf(remote),
          latch: SourceLatch.make(remote),
          control: null,
          destination: null
        }
        rtcp.start(now)
        return
      }
      settle()
      incoming.settle()
      session.latch.announce(remote)
      session.remote = remote
      session.format = formatOf(remote)
    },
    /** Forwards an RTP datagram at once if it is the next of a run; false: it has to go to `receive`. */
    passesOn: fast.take,
    /** Takes a datagram from any source. Its bytes are given away to the leg; `from` is lent for the call. */
    receive: (channel: Channel, bytes: Uint8Array, from: Address, now: number): void => {
      settle()
      if (session === null || (!listens(session) && channel === "rtp" && !RtpPacket.isRtcp(bytes))) {
        counters.unwanted++
        return
      }
      // RTCP may come on the RTP port unasked (RFC 5761), but RTP never on the RTCP port.
      if (channel === "rtcp" || RtpPacket.isRtcp(bytes)) return receiveControl(session, bytes, from, now)
      receiveMedia(session, bytes, from, now)
    },
    counters: () => {
      settle()
      return { ...counters, strangers: session?.latch.strangers() ?? 0, ...receiver.counters() }
    }
  }
}
