/**
 * A machine of a leg with a shell that only records: the test feeds it inputs, plays the effects of its outputs at any
 * time, and reads the log.
 */
import { expect } from "@effect/vitest"
import type { Told } from "../../../../src/carrier/Carrier.ts"
import type * as LegMachine from "../../../../src/carrier/sip/leg/LegMachine.ts"
import type * as LegShell from "../../../../src/carrier/sip/leg/LegShell.ts"
import type { Action, After, Input as SessionInput } from "../../../../src/carrier/sip/session/SessionState.ts"
import * as NonceMemory from "../../../../src/carrier/sip/NonceMemory.ts"
import * as IpAddress from "../../../../src/domain/network/IpAddress.ts"
import * as Dialog from "../../../../src/protocol/sip/dialog/Dialog.ts"
import * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import * as Responses from "../../../../src/protocol/sip/message/Responses.ts"
import type { SipRequest } from "../../../../src/protocol/sip/message/SipMessage.ts"
import type { RtpPlace } from "../../../../src/media/plane/MediaPlane.ts"
import * as Ids from "../../../support/Ids.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"
import * as Rig from "../Rig.ts"

export type Output = LegMachine.Output

/** The reports that wait for the sink, oldest first. */
type Telling = { readonly type: "end" } | { readonly type: "tell"; readonly after: After | null }

interface Sent {
  readonly cseq: number
  readonly dialog: string
  readonly request: SipRequest
}

export interface Model<State, Own> {
  readonly state: () => State
  /** All outputs. */
  readonly log: ReadonlyArray<Output>
  readonly feed: (input: LegMachine.Input | Own) => ReadonlyArray<Output>
  /** The sink settles the oldest event. */
  readonly tell: (told: Told) => void
  readonly pass: (ms: number) => void
  /** The peer sends a request within the nth dialog of the leg. */
  readonly ask: (method: string, which?: number, body?: Requests.Body) => void
  /** The peer answers the oldest request of ours, or none will come (0). */
  readonly answer: (status: number) => void
  readonly within: (input: SessionInput) => void
  readonly act: (what: Action["type"]) => void
  /** Requests of the peer, and how often each was answered. */
  readonly asked: ReadonlyMap<string, number>
  /** Actions, and how often each had its last outcome. */
  readonly acted: ReadonlyMap<string, number>
}

export const hop = { sentBy: "192.0.2.2:5062", branch: "z9hG4bKmodel" }

export const make = <State, Own>(machine: LegShell.Machine<State, Own>, start: State): Model<State, Own> => {
  let state = start
  let now = 0
  let counter = 0
  let cseq = 10
  const log: Array<Output> = []
  const telling: Array<Telling> = []
  const sent: Array<Sent> = []
  const nonces = NonceMemory.make()
  const asked = new Map<string, number>()
  const acted = new Map<string, number>()

  /** A REFER whose leg ends has no further reports. */
  const referred = new Set<string>()
  const settled = (commandId: string): void => {
    if (acted.has(commandId)) return void acted.set(commandId, (acted.get(commandId) ?? 0) + 1)
    expect(referred.has(commandId)).toBe(false)
    referred.add(commandId)
  }

  const note = (output: Output): void => {
    log.push(output)
    switch (output.type) {
      case "respond":
      case "succeed":
        if (asked.has(output.id)) asked.set(output.id, (asked.get(output.id) ?? 0) + 1)
        return
      case "tell":
        telling.push({ type: "tell", after: output.after })
        if (output.report.type === "referred" && output.report.status !== "accepted") settled(output.report.commandId)
        if (output.report.type === "command_failed") settled(output.report.commandId)
        return
      case "end":
        return void telling.push({ type: "end" })
      case "request":
        return void sent.push({ cseq: output.cseq, dialog: Dialog.id(output.dialog), request: output.request })
      case "outcome":
        return settled(output.commandId)
      case "stopRepeating":
      case "ack":
      case "connect":
      case "takePlace":
      case "leave":
      case "forget":
      case "invite":
      case "cancel":
      case "stray":
        return
      case "nonces":
        return nonces.keep(output.trunk, output.nonces)
    }
  }

  const feed: Model<State, Own>["feed"] = (input) => {
    const token = (++counter * 2_654_435_761).toString(16).padStart(32, "0")
    const step = machine.step(state, input, { now, token, nonces: nonces.of })
    ;({ state } = step)
    for (const output of step.outputs) note(output)
    return step.outputs
  }

  return {
    state: () => state,
    log,
    asked,
    acted,
    feed,
    tell: (told) => {
      const oldest = telling.shift()
      if (oldest?.type === "end") feed({ type: "endTold", told })
      else if (oldest !== undefined && oldest.after !== null) feed({ type: "told", after: oldest.after, told })
    },
    pass: (ms) => {
      now += ms
      const at = machine.deadline(state)
      if (at !== null && at <= now) feed({ type: "due" })
      const next = machine.deadline(state)
      expect(next === null || next > now).toBe(true)
    },
    ask: (method, which = 0, body) => {
      const dialogs = machine.dialogs(state)
      const dialog = dialogs[which % Math.max(1, dialogs.length)]
      if (dialog === undefined) return
      const id = `asked-${++counter}`
      const request = Requests.make({
        method,
        ...hop,
        uri: "sip:us@192.0.2.1",
        from: "<sip:bob@192.0.2.2>;tag=bob",
        to: "<sip:us@192.0.2.1>;tag=us",
        callId: "model",
        cseq: ++cseq,
        contact: "<sip:bob@192.0.2.2:5062>",
        ...(body === undefined ? {} : { body })
      })
      asked.set(id, 0)
      feed({ type: "within", dialog, input: { type: "request", id, request, flow: SipSample.flow(Rig.peer) } })
    },
    answer: (status) => {
      const oldest = sent.shift()
      if (oldest === undefined) return
      const { dialog, request } = oldest
      const challenge = ["WWW-Authenticate", `Digest realm="r", nonce="${++counter}", stale=true`] as const
      const input: SessionInput =
        status === 0
          ? { type: "failed", cseq: oldest.cseq, reason: "timeout" }
          : {
              type: "response",
              cseq: oldest.cseq,
              response: Responses.make(Requests.by(request, hop), status, {
                headers: status === 401 ? [challenge] : [],
                ...(request.method === "INVITE" && status < 300 ? { body: Rig.sdpBody() } : {})
              })
            }
      feed({ type: "within", dialog, input })
      if (status > 0 && status < 200) sent.unshift(oldest)
    },
    within: (input) => {
      const [dialog] = machine.dialogs(state)
      if (dialog !== undefined) feed({ type: "within", dialog, input })
    },
    act: (what) => {
      const commandId = Ids.command(`${what} ${++counter}`)
      if (what !== "refer") acted.set(commandId, 0)
      feed({ type: "action", action: actions(commandId)[what] })
    }
  }
}

const actions = (commandId: Action["commandId"]): { readonly [T in Action["type"]]: Extract<Action, { type: T }> } => ({
  renegotiate: { type: "renegotiate", commandId, direction: "sendonly" },
  info: { type: "info", commandId, body: { type: "application/dtmf", bytes: new TextEncoder().encode("1") } },
  refer: { type: "refer", commandId, uri: "sip:carol@example.com", headers: [] }
})

const digit: Requests.Body = { type: "application/dtmf", bytes: new TextEncoder().encode("5") }
export const sdp = Rig.sdpBody()
export const unusable = Rig.sdpBody(30_000, "a=rtpmap:18 G729/8000", "18")

const ack = (body: Uint8Array): SipRequest => ({ type: "request", method: "ACK", uri: "sip:us", headers: [], body })

const place: RtpPlace = {
  addresses: IpAddress.only("192.0.2.1"),
  port: 40_000,
  placement: { gateway: "local", thread: 0 }
}

type Shared = Pick<Model<unknown, never>, "act" | "answer" | "ask" | "feed" | "pass" | "tell" | "within">
type Acts<Leg> = Readonly<Record<string, (leg: Leg) => void>>

/** The acts that are possible for every leg. */
const shared: Acts<Shared> = {
  disowned: ({ feed }) => feed({ type: "disowned" }),
  "media lost": ({ feed }) => feed({ type: "mediaLost", reason: "no_packets" }),
  placed: ({ feed }) => feed({ type: "placed", place }),
  "no place": ({ feed }) => feed({ type: "placed", place: null }),
  committed: ({ tell }) => tell("committed"),
  fault: ({ tell }) => tell("fault"),
  unknown: ({ tell }) => tell("unknown"),
  "a second": ({ pass }) => pass(1_000),
  "ten seconds": ({ pass }) => pass(10_000),
  BYE: ({ ask }) => ask("BYE"),
  INFO: ({ ask }) => ask("INFO", 0, digit),
  "INFO of another": ({ ask }) => ask("INFO", 1, digit),
  OPTIONS: ({ ask }) => ask("OPTIONS"),
  NOTIFY: ({ ask }) => ask("NOTIFY"),
  UPDATE: ({ ask }) => ask("UPDATE"),
  "re-INVITE": ({ ask }) => ask("INVITE", 0, sdp),
  "re-INVITE bare": ({ ask }) => ask("INVITE"),
  "re-INVITE unusable": ({ ask }) => ask("INVITE", 0, unusable),
  ACK: ({ within }) => within({ type: "acknowledged", ack: ack(sdp.bytes) }),
  "ACK bare": ({ within }) => within({ type: "acknowledged", ack: ack(new Uint8Array(0)) }),
  abandoned: ({ within }) => within({ type: "abandoned" }),
  hold: ({ act }) => act("renegotiate"),
  refer: ({ act }) => act("refer"),
  info: ({ act }) => act("info"),
  "answered 200": ({ answer }) => answer(200),
  "answered 401": ({ answer }) => answer(401),
  "answered 481": ({ answer }) => answer(481),
  "answered 491": ({ answer }) => answer(491),
  "not answered": ({ answer }) => answer(0)
}

/** Plays the acts that are possible for every leg, and those for legs of this kind. */
export const player = <Leg extends Shared>(own: Acts<Leg>) => ({
  names: [...Object.keys(own), ...Object.keys(shared)],
  act: (leg: Leg, name: string): void => (own[name] ?? shared[name])?.(leg)
})

/** Settles everything that waits, and hangs up the call. */
export const settle = (leg: Shared, release: () => void): void => {
  const flush = () => {
    for (let count = 0; count < 200; count++) leg.tell("committed")
    for (let count = 0; count < 60; count++) leg.answer(486)
  }
  flush()
  release()
  flush()
  leg.within({ type: "abandoned" })
  flush()
  leg.pass(10_000)
  flush()
}

/** Names an output for the log: a request by its method, a response by its status. */
export const word = (output: Output): string => {
  switch (output.type) {
    case "respond":
    case "succeed":
      return `${output.id} ${output.response.status}`
    case "request":
      return output.request.method
    case "tell":
      return `tell ${output.report.type}`
    case "stopRepeating":
    case "ack":
    case "connect":
    case "outcome":
    case "end":
    case "leave":
    case "takePlace":
    case "forget":
    case "invite":
    case "cancel":
    case "stray":
    case "nonces":
      return output.type
  }
}
