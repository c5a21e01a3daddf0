/**
 * A SIP carrier over a network in memory, on the test clock. The test plays the peer, the sink and the media plane, and
 * sees everything that crosses a port.
 */
import { Context, Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { expect } from "@effect/vitest"
import { Entropy } from "../../../src/runtime/process/Entropy.ts"
import {
  type Admission,
  Carrier,
  type CarrierCommand,
  type CarrierEvent,
  CarrierSink,
  type InboundOffer,
  RouteDirectory,
  type SipTrunk
} from "../../../src/carrier/Carrier.ts"
import type { LegId } from "../../../src/domain/Id.ts"
import { type CodecName, defaultOrder } from "../../../src/protocol/audio/codec/Codecs.ts"
import * as PeerTable from "../../../src/carrier/peer/PeerTable.ts"
import { TrunkStates } from "../../../src/carrier/peer/TrunkStates.ts"
import * as Sample from "../../support/fake/CarrierSample.ts"
import * as SipCarrier from "../../../src/carrier/sip/SipCarrier.ts"
import * as Transports from "../../../src/carrier/sip/transport/Transports.ts"
import {
  type Listener,
  type Loss,
  MediaPlane,
  MediaUnavailable,
  type Quality,
  type RtpRemote
} from "../../../src/media/plane/MediaPlane.ts"
import type { MediaEvent } from "../../../src/ports/media/MediaMessage.ts"
import * as IpAddress from "../../../src/domain/network/IpAddress.ts"
import type { Flow } from "../../../src/protocol/sip/Flow.ts"
import * as MessageKey from "../../../src/protocol/sip/message/MessageKey.ts"
import * as Requests from "../../../src/protocol/sip/message/Requests.ts"
import * as Responses from "../../../src/protocol/sip/message/Responses.ts"
import type { Endpoint, SipMessage, SipRequest, SipResponse } from "../../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../../src/protocol/sip/message/SipWriter.ts"
import * as Ids from "../../support/Ids.ts"

export const self: Endpoint = { address: "192.0.2.1", port: 5060 }
export const peer: Endpoint = { address: "192.0.2.2", port: 5062 }

export const sdp = (port = 30_000, more = "a=sendrecv", formats = "0 8 101"): Uint8Array =>
  new TextEncoder().encode(
    [
      "v=0",
      "o=- 1 1 IN IP4 192.0.2.2",
      "s=-",
      "c=IN IP4 192.0.2.2",
      "t=0 0",
      `m=audio ${port} RTP/AVP ${formats}`,
      "a=rtpmap:101 telephone-event/8000",
      more,
      ""
    ].join("\r\n")
  )

export const sdpBody = (port?: number, more?: string, formats?: string) => ({
  type: "application/sdp",
  bytes: sdp(port, more, formats)
})

interface Sent {
  readonly message: SipMessage
  readonly to: Endpoint
}

export interface Rig {
  readonly command: (command: CarrierCommand) => Effect.Effect<void>
  readonly caughtUp: (legId: LegId) => Effect.Effect<void>
  readonly presence: (legId: LegId) => Effect.Effect<"alive" | "gone" | "unknown">
  readonly drain: Effect.Effect<void>
  readonly stats: SipCarrier.SipCarrier["Service"]["stats"]
  /** Takes out everything sent since the last call. */
  readonly sent: () => ReadonlyArray<Sent>
  /** Delivers a message of the peer. */
  readonly deliver: (message: SipMessage, from?: Endpoint) => Effect.Effect<void>
  readonly deliverBytes: (bytes: Uint8Array, from?: Endpoint) => void
  /** Takes out the events reported since the last call. */
  readonly told: () => ReadonlyArray<CarrierEvent>
  readonly offers: Array<InboundOffer>
  /** The sink's answer to the next offers. */
  admission: Admission
  /** While `true` no event is committed. */
  hold: (held: boolean) => Effect.Effect<void>
  /** Commits fail from now on. */
  broken: boolean
  /** No call owns the legs from now on. */
  disowned: boolean
  /** The number of events that could not be committed. */
  faults: number
  trunk: SipTrunk | null
  /** The trunks that OPTIONS requests check. */
  qualified: ReadonlyArray<SipTrunk>
  readonly states: TrunkStates["Service"]
  /** Pushes a new table of known peers; until then the trunk is the only one. */
  know: (addresses: ReadonlyArray<string>) => Effect.Effect<void>
  mediaFull: boolean
  /** Whether the plane leaves `close` unanswered. */
  isMediaSilent: boolean
  /** The sound quality of legs whose media are closed. */
  quality: Quality | null
  /** The digits that the packets of every leg have brought. */
  packetDigits: string
  /** The next datagrams cannot be sent. */
  unreachable: boolean
  /** Takes the datagrams instead of `sent`. */
  wire: ((bytes: Uint8Array, to: Endpoint) => void) | undefined
  readonly media: Array<readonly [what: string, leg: string, detail?: unknown]>
  readonly hear: (leg: string, event: MediaEvent) => void
  /** The plane answers the `close` of a leg, with the `quality`. */
  readonly close: (leg: string) => void
  /** The media of a leg fail. */
  readonly lose: (leg: string, reason?: Loss) => void
  readonly connections: () => ReadonlyArray<RtpRemote>
}

export const trunk: SipTrunk = {
  routeId: Ids.route("svc_route_1"),
  host: peer.address,
  port: peer.port,
  transport: "udp",
  username: null,
  password: null
}

const makeRig = Effect.fnUntraced(function* (options: {
  readonly label: string
  readonly codecs: ReadonlyArray<CodecName>
  readonly local: Endpoint
  readonly others: ReadonlyArray<Transports.Transport>
  readonly maxLegs: number
}) {
  const sent: Array<Sent> = []
  const told: Array<CarrierEvent> = []
  const held: Array<() => void> = []
  const listeners = new Map<string, Listener>()
  let holding = false
  let nextPort = 40_000
  let receiver: Transports.Receiver = () => undefined

  const state = {
    offers: [] as Array<InboundOffer>,
    admission: { admitted: true, callId: "svc_call_in", routeId: trunk.routeId } as Admission,
    broken: false,
    disowned: false,
    faults: 0,
    trunk: trunk as SipTrunk | null,
    qualified: [] as ReadonlyArray<SipTrunk>,
    know: (() => Effect.void) as Rig["know"],
    mediaFull: false,
    isMediaSilent: false,
    quality: null as Quality | null,
    packetDigits: "",
    unreachable: false,
    wire: undefined as Rig["wire"],
    media: [] as Array<readonly [string, string, unknown?]>
  }

  const flow = (remote: Endpoint): Flow => ({ transport: "udp", local: options.local, remote, connection: null })
  const transport: Transports.Transport = {
    type: "udp",
    localTo: () => options.local,
    announcedTo: () => options.local,
    open: flow,
    send: (bytes, { remote }, refused) => {
      if (state.unreachable) return queueMicrotask(refused)
      if (state.wire !== undefined) return state.wire(bytes, remote)
      sent.push({ message: Result.getOrThrow(SipParser.parse(bytes)), to: remote })
    },
    receive: (next) => {
      receiver = next
    }
  }
  const commit = Effect.callback<void>((resume) => {
    if (holding) held.push(() => resume(Effect.void))
    else resume(Effect.void)
  })
  const sink = Layer.succeed(CarrierSink, {
    offer: (offer) =>
      Effect.suspend(() => {
        state.offers.push(offer)
        return Effect.as(commit, state.admission)
      }),
    tell: (_callId, event) =>
      Effect.suspend(() => {
        if (state.broken) {
          state.faults++
          return Effect.succeed("fault")
        }
        told.push(event)
        return Effect.as(commit, state.disowned ? "unknown" : "committed")
      })
  })
  const plane = Layer.succeed(MediaPlane, {
    addresses: IpAddress.only(options.local.address),
    openRtp: (leg) =>
      Effect.suspend(() => {
        state.media.push(["open", leg])
        return state.mediaFull
          ? Effect.fail(new MediaUnavailable({ reason: "no_ports" }))
          : Effect.succeed({
              addresses: IpAddress.only(options.local.address),
              port: (nextPort += 2),
              placement: { gateway: "local", thread: 0 }
            })
      }),
    connectRtp: (leg, remote) => Effect.sync(() => void state.media.push(["connect", leg, remote])),
    openPhone: () => Effect.void,
    openJoined: () => Effect.die(new Error("not for SIP")),
    capture: () => Effect.die(new Error("not here")),
    attend: () => Effect.void,
    bridge: () => Effect.die(new Error("no verb bridges yet")),
    unbridge: () => Effect.void,
    openRoom: () => Effect.void,
    enterRoom: () => Effect.void,
    leaveRoom: () => Effect.void,
    changeMember: () => Effect.void,
    beep: () => Effect.void,
    command: (leg, _, media) => Effect.sync(() => void state.media.push(["command", leg, media])),
    press: (leg, digit, taken) =>
      Effect.sync(() => {
        state.media.push(["press", leg, digit])
        taken(!state.packetDigits.includes(digit))
      }),
    close: (leg) =>
      Effect.sync(() => {
        state.media.push(["close", leg])
        if (!state.isMediaSilent) listeners.get(leg)?.closed?.(state.quality)
      }),
    subscribe: (leg, listener) => Effect.sync(() => void listeners.set(leg, listener))
  })
  let tables = 0
  const directory = Layer.succeed(RouteDirectory, {
    qualified: (after) => Effect.sync(() => (after === "" ? state.qualified : [])),
    sipTrunk: () => Effect.sync(() => state.trunk),
    knownPeers: (listener) =>
      Effect.sync(() => {
        state.know = (addresses) => Effect.forEach(PeerTable.snapshot(++tables, addresses), listener, { discard: true })
      }).pipe(Effect.andThen(Effect.suspend(() => state.know([trunk.host]))))
  })
  const services = yield* Layer.build(
    SipCarrier.layerNoDeps({ userAgent: "trunkline/test", codecs: options.codecs, maxLegs: options.maxLegs }).pipe(
      Layer.provideMerge(Carrier.layer),
      Layer.provide([
        Layer.succeed(Transports.Transports, Transports.make([transport, ...options.others])),
        sink,
        plane,
        directory,
        Entropy.layerFixed(options.label)
      ])
    )
  )
  const carrier = Context.get(services, Carrier)
  const sip = Context.get(services, SipCarrier.SipCarrier)

  const rig: Rig = Object.assign(state, {
    command: (command: CarrierCommand) => carrier.interpret("sip", Sample.order(command)),
    caughtUp: (legId: LegId) => carrier.caughtUp("sip", legId),
    presence: (legId: LegId) => Sample.presence(carrier, "sip", legId),
    drain: sip.drain,
    states: Context.get(services, TrunkStates),
    stats: sip.stats,
    sent: () => sent.splice(0),
    told: () => told.splice(0),
    deliverBytes: (bytes: Uint8Array, from: Endpoint = peer) => receiver(bytes, flow(from)),
    deliver: (message: SipMessage, from: Endpoint = peer) =>
      Effect.andThen(
        Effect.sync(() => receiver(SipWriter.write(message), flow(from))),
        Effect.yieldNow
      ),
    hold: (wanted: boolean) =>
      Effect.andThen(
        Effect.sync(() => {
          holding = wanted
          if (!wanted) for (const release of held.splice(0)) release()
        }),
        Effect.yieldNow
      ),
    hear: (leg: string, event: MediaEvent) => listeners.get(leg)?.told(event),
    close: (leg: string) => listeners.get(leg)?.closed?.(state.quality),
    lose: (leg: string, reason: Loss = "no_packets") => listeners.get(leg)?.lost(reason),
    connections: () => state.media.filter(([what]) => what === "connect").map(([, , remote]) => remote as RtpRemote)
  })
  return rig
})

/**
 * A carrier that lives as long as the test. `label` seeds its random numbers, `others` are its transports besides UDP.
 */
export const make = (
  label = "rig",
  local: Endpoint = self,
  others: ReadonlyArray<Transports.Transport> = [],
  codecs = defaultOrder,
  maxLegs = 5_000
) => makeRig({ label, local, others, codecs, maxLegs })

/** The `stats` when every call is forgotten. */
export const nothing = { legs: 0, dialogs: 0, invites: 0, transactions: 0, faults: 0 }

/** Lets virtual time pass, with everything that is due in it. */
export const pass = (ms: number) => TestClock.adjust(ms)

export const name = (message: SipMessage): string =>
  message.type === "request" ? message.method : String(message.status)

export const names = (sent: ReadonlyArray<Sent>): ReadonlyArray<string> => sent.map(({ message }) => name(message))

/** The events as `type` with their important fields. */
export const words = (events: ReadonlyArray<CarrierEvent>): ReadonlyArray<string> =>
  events.map((event) => {
    switch (event.type) {
      case "ended":
      case "leaving":
        return `${event.type} ${event.cause} ${event.sipStatus ?? "-"} ${event.by}`
      case "media":
        return event.event.type === "dtmf"
          ? `dtmf ${event.event.digit}`
          : event.event.type === "ended"
            ? `${event.event.id} ${event.event.status} ${event.event.reason ?? "-"}`
            : `${event.event.id} ${event.event.type}`
      case "command_failed":
        return `command_failed ${event.commandId} ${event.reason}`
      case "ringing":
      case "early_media":
      case "answered":
        return event.type
      case "bridged":
        return `bridged ${event.peerLegId}`
      case "unbridged":
        return `unbridged ${event.peerLegId}${event.peerEnded ? " ended" : ""}`
      case "room_joined":
      case "room_left":
        return `${event.type} ${event.memberId}`
      case "referred":
        return `referred ${event.status} ${event.sipStatus ?? "-"}`
    }
  })

/** The last sent request of this method. */
export const requestOf = (sent: ReadonlyArray<Sent>, method: string): SipRequest => {
  const found = sent.findLast(({ message }) => message.type === "request" && message.method === method)?.message
  if (found?.type !== "request") expect.fail(`no ${method} among ${names(sent).join(" ")}`)
  return found
}

export const responseOf = (sent: ReadonlyArray<Sent>, status: number): SipResponse => {
  const found = sent.findLast(({ message }) => message.type === "response" && message.status === status)?.message
  if (found?.type !== "response") expect.fail(`no ${status} among ${names(sent).join(" ")}`)
  return found
}

/** The peer's answer to a request of ours. */
export const reply = (request: SipRequest, status: number, more: Responses.Options = {}): SipResponse =>
  Responses.make(request, status, { toTag: "bob", contact: "<sip:bob@192.0.2.2:5062>", ...more })

/** A call of the peer to our number. */
export const invite = (more: Partial<Requests.Fields> = {}): SipRequest =>
  Requests.make({
    method: "INVITE",
    uri: "sip:+12025550150@192.0.2.1",
    sentBy: "192.0.2.2:5062",
    branch: "z9hG4bKin1",
    from: "<sip:+4930123456@192.0.2.2>;tag=bob",
    to: "<sip:+12025550150@192.0.2.1>",
    callId: "in-1",
    cseq: 1,
    contact: "<sip:bob@192.0.2.2:5062>",
    body: sdpBody(),
    ...more
  })

/** The identifying fields of a command to the leg that was offered first. */
export const ofOffered = ({ offers }: Rig) => ({
  commandId: Ids.command("offered-1"),
  callId: Ids.call("svc_call_in"),
  tenantId: Ids.tenant("t"),
  legId: offers[0]?.legId ?? Ids.leg("")
})

export const of = {
  commandId: Ids.command("dial-1"),
  callId: Ids.call("svc_call_1"),
  legId: Ids.leg("svc_leg_1")
}

export const dial: Extract<CarrierCommand, { readonly type: "dial" }> = {
  ...of,
  type: "dial",
  tenantId: Ids.tenant("t"),
  routeId: trunk.routeId,
  from: "+12025550150",
  to: "+4930123456"
}

export const hangup: CarrierCommand = {
  ...of,
  commandId: Ids.command("hangup-1"),
  type: "hangup",
  origin: null,
  resume: null
}

export const cseqOf = (message: SipMessage): number => MessageKey.cseq(message)?.sequence ?? -1
