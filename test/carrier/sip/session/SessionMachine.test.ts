import { describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../../../src/protocol/audio/codec/Codecs.ts"
import * as SessionMachine from "../../../../src/carrier/sip/session/SessionMachine.ts"
import type { Output, Phase, State } from "../../../../src/carrier/sip/session/SessionState.ts"
import * as IpAddress from "../../../../src/domain/network/IpAddress.ts"
import * as Dialog from "../../../../src/protocol/sip/dialog/Dialog.ts"
import * as DialogMethod from "../../../../src/protocol/sip/dialog/DialogMethod.ts"
import * as OfferAnswer from "../../../../src/protocol/sip/sdp/OfferAnswer.ts"
import * as ReferSubscription from "../../../../src/protocol/sip/dialog/ReferSubscription.ts"
import * as Requests from "../../../../src/protocol/sip/message/Requests.ts"
import * as LegModel from "../leg/LegModel.ts"
import * as SipSample from "../../../support/fake/SipSample.ts"
import * as Ids from "../../../support/Ids.ts"
import * as Rig from "../Rig.ts"

const fields = {
  ...LegModel.hop,
  uri: "sip:us@192.0.2.1",
  from: "<sip:bob@192.0.2.2>;tag=bob",
  to: "<sip:us@192.0.2.1>",
  callId: "session",
  contact: "<sip:bob@192.0.2.2:5062>"
}

const flow = SipSample.flow(Rig.peer)

const session = (phase: Phase, isCaller: boolean): State => {
  const invite = Requests.invite({ ...fields, cseq: 1 })
  const dialog = Dialog.fromRequest(invite, { localTag: "us", contact: "<sip:us@192.0.2.1>", cseq: 1 })
  if (dialog === null) return expect.fail("no dialog")
  const start = SessionMachine.start({
    dialog,
    isCaller,
    flow,
    trunk: null,
    agent: { userAgent: "t", host: "192.0.2.1" },
    local: {
      addresses: IpAddress.only("192.0.2.1"),
      family: "ipv4",
      port: 40_000,
      sessionId: "7",
      codecs: [Codecs.table.PCMU, Codecs.table.PCMA],
      codecChoice: "ours"
    },
    media: OfferAnswer.initial
  })
  const subscriptions = [{ commandId: Ids.command("refer"), state: ReferSubscription.start(1) }]
  return { ...start, phase, subscriptions }
}

const places = {
  ringing: session("early", false),
  calling: session("early", true),
  confirmed: session("established", true),
  leaving: session("hungUp", true)
} as const

/** A request with a body, if its method allows one. */
const request = (method: string) =>
  Requests.make({
    ...fields,
    method,
    cseq: 2,
    contact: "<sip:bob@192.0.2.2:5099>",
    ...(method === "INFO" ? { body: { type: "application/dtmf", bytes: new TextEncoder().encode("5") } } : {}),
    ...(method === "INVITE" ? { body: LegModel.sdp } : {}),
    ...(method === "NOTIFY" ? { body: { type: "message/sipfrag", bytes: Buffer.from("SIP/2.0 200 OK") } } : {}),
    headers: [
      ["Event", "refer"],
      ["Subscription-State", "active"]
    ]
  })

const env = { now: 0, token: "00".repeat(16), nonces: () => ({}) }
const id = "asked"
const methods = ["INVITE", "BYE", "OPTIONS", "INFO", "NOTIFY", "UPDATE", "REFER", "PRACK", "JUMP"]

const asked = (state: State, method: string) => {
  const step = SessionMachine.step(state, { type: "request", id, request: request(method), flow }, env)
  const statuses = step.outputs.flatMap((output) =>
    output.type === "respond" || output.type === "succeed" ? [output.response.status] : []
  )
  return { ...step, statuses }
}

describe("a request of the peer within a dialog", () => {
  for (const place of ["ringing", "calling", "confirmed", "leaving"] as const)
    for (const method of methods) {
      const { answered, at } = DialogMethod.of(method)
      const verdict = at[place]
      const isLater = verdict === "serve" && answered === "after_commit" && !(method === "BYE" && place === "leaving")
      const what =
        verdict !== "serve" ? `gets ${verdict}` : isLater ? "is answered after its commit" : "is answered at once"
      it(`${place}: ${method} ${what}`, () => {
        const { outputs, statuses } = asked(places[place], method)
        if (verdict !== "serve") expect(statuses).toEqual([verdict])
        else if (!isLater) expect(statuses).toHaveLength(1)
        else {
          expect(statuses).toEqual([])
          expect(outputs.some(({ type }) => type === "tell" || type === "left")).toBe(true)
        }
      })
    }

  it("moves the target only where it is accepted and its method says so", () => {
    const before = places.confirmed.dialog.remoteTarget
    const after = Object.fromEntries(
      methods.map((method) => [method, asked(places.confirmed, method).state.dialog.remoteTarget !== before])
    )
    expect(Object.keys(after).filter((method) => after[method])).toEqual(["INVITE", "NOTIFY"])
    expect(asked({ ...places.confirmed, phase: "accepted" }, "INVITE").state.dialog.remoteTarget).toBe(before)
  })

  it("has one move of the target told at a time, and then the newest", () => {
    const move = (state: State, port: number, cseq: number) =>
      SessionMachine.step(
        state,
        {
          type: "request",
          id,
          flow,
          request: Requests.make({
            ...fields,
            method: "NOTIFY",
            cseq,
            contact: `<sip:bob@192.0.2.2:${port}>`,
            body: { type: "message/sipfrag", bytes: Buffer.from("SIP/2.0 180 Ringing") },
            headers: [
              ["Event", "refer"],
              ["Subscription-State", "active"]
            ]
          })
        },
        env
      )
    const targets = ({ outputs }: { readonly outputs: ReadonlyArray<Output> }) =>
      outputs.flatMap((output) =>
        output.type === "tell" && output.report.type === "answered" ? [JSON.stringify(output.report.resume)] : []
      )
    const first = move(places.confirmed, 5070, 2)
    expect(targets(first)).toEqual([expect.stringContaining("5070")])
    const second = move(first.state, 5071, 3)
    const third = move(second.state, 5072, 4)
    expect([...targets(second), ...targets(third)]).toEqual([])
    const through = SessionMachine.step(third.state, { type: "moved" }, env)
    expect(targets(through)).toEqual([expect.stringContaining("5072")])
    const quiet = SessionMachine.step(through.state, { type: "moved" }, env)
    expect(targets(quiet)).toEqual([])
    expect(targets(move(quiet.state, 5073, 5))).toHaveLength(1)
  })

  it("is refused with 500 when it is out of order, and then changes nothing", () => {
    const late = { ...places.confirmed, dialog: { ...places.confirmed.dialog, remoteCSeq: 3 } }
    for (const method of methods) {
      const { state, statuses } = asked(late, method)
      expect(statuses).toEqual([500])
      expect(state).toEqual(late)
    }
  })

  it("is refused with 500, and changes nothing, when its CSeq was used before and its repeat would do harm", () => {
    const used = { ...places.confirmed, dialog: { ...places.confirmed.dialog, remoteCSeq: 2 } }
    for (const method of ["INVITE", "INFO", "NOTIFY"]) {
      const { outputs, state, statuses } = asked(used, method)
      expect([method, statuses, outputs.length]).toEqual([method, [500], 1])
      expect(state).toEqual(used)
    }
    // A call ends only once, and a refused BYE would let it last.
    expect(asked(used, "BYE").outputs.some(({ type }) => type === "left")).toBe(true)
    expect(asked(used, "OPTIONS").statuses).toEqual([200])
  })

  it("counts ten INFO requests of one CSeq as one digit, whatever their branches", () => {
    let state: State = places.confirmed
    const digits: Array<unknown> = []
    for (let copy = 0; copy < 10; copy++) {
      const step = SessionMachine.step(
        state,
        { type: "request", id: `copy ${copy}`, request: request("INFO"), flow },
        env
      )
      digits.push(...step.outputs.filter(({ type }) => type === "tell"))
      state = step.state
    }
    expect(digits).toHaveLength(1)
  })
})
