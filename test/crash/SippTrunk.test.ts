import { createSocket } from "node:dgram"
import { once } from "node:events"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as Dialog from "../../src/protocol/sip/dialog/Dialog.ts"
import * as MessageKey from "../../src/protocol/sip/message/MessageKey.ts"
import * as Requests from "../../src/protocol/sip/message/Requests.ts"
import type { SipMessage, SipResponse } from "../../src/protocol/sip/message/SipMessage.ts"
import * as SipParser from "../../src/protocol/sip/message/SipParser.ts"
import * as SipWriter from "../../src/protocol/sip/message/SipWriter.ts"
import type { SipPeer } from "./support/peer/SipPeer.ts"
import * as Sipp from "./support/peer/Sipp.ts"

/** A caller at the trunk, which sends several messages in one burst. */
const makeCaller = async (port: number) => {
  const socket = createSocket("udp4").bind(0, "127.0.0.1")
  await once(socket, "listening")
  const answers: Array<SipResponse> = []
  socket.on("message", (bytes) => {
    const message = Result.getOrNull(SipParser.parse(bytes))
    if (message?.type === "response") answers.push(message)
  })
  const own = `127.0.0.1:${socket.address().port}`
  return {
    invite: Requests.invite({
      sentBy: own,
      branch: "z9hG4bKinvite",
      uri: `sip:+12025550100@127.0.0.1:${port}`,
      from: "<sip:+12025550150@127.0.0.1>;tag=us",
      to: `<sip:+12025550100@127.0.0.1:${port}>`,
      callId: "one-call",
      cseq: 1,
      contact: `<sip:${own}>`,
      headers: []
    }),
    hop: { sentBy: own, branch: "z9hG4bKwithin" },
    send: (...messages: ReadonlyArray<SipMessage>) => {
      for (const message of messages) socket.send(SipWriter.write(message), port, "127.0.0.1")
    },
    answer: (status: number, to: string) =>
      answers.find((each) => each.status === status && MessageKey.cseq(each)?.method === to) ?? null,
    close: () => socket.close()
  }
}

/** A test with SIPp as the trunk, and a caller that has sent its INVITE; skipped where SIPp is not installed. */
const atTrunk =
  (run: (peer: SipPeer, caller: Awaited<ReturnType<typeof makeCaller>>) => Promise<void>) =>
  async ({ skip }: { readonly skip: (note: string) => void }): Promise<void> => {
    const folder = await mkdtemp(join(tmpdir(), "trunkline-sipp-"))
    await chmod(folder, 0o711)
    const peer = await Sipp.start(folder)
    try {
      if (peer === null) return skip("sipp is not installed")
      const caller = await makeCaller(peer.port)
      try {
        caller.send(caller.invite)
        await run(peer, caller)
      } finally {
        caller.close()
      }
    } finally {
      await peer?.close()
      await rm(folder, { recursive: true, force: true })
    }
  }

describe("SIPp as the trunk of the crash tests", () => {
  it(
    "logs a BYE that arrives together with a CANCEL and an ACK, because its answer had crossed the CANCEL",
    atTrunk(async (peer, caller) => {
      await expect.poll(() => caller.answer(200, "INVITE"), { timeout: 20_000 }).not.toBeNull()
      const answer = caller.answer(200, "INVITE")
      const dialog = answer === null ? null : Dialog.fromResponse(caller.invite, answer)
      if (dialog === null) throw new Error("the answer made no dialog")
      const ack = Dialog.acknowledge(dialog, caller.invite, { ...caller.hop, branch: "z9hG4bKack" })
      const bye = Dialog.request(ack.dialog, "BYE", caller.hop)
      caller.send(Requests.cancel(caller.invite), ack.request, bye.request)
      // A BYE is sent again until it has its answer (RFC 3261 section 17.1.2.1).
      for (let tries = 0; tries < 20 && caller.answer(200, "BYE") === null; tries++) {
        await delay(500)
        caller.send(bye.request)
      }
      await expect.poll(() => peer.dialogs.get("one-call")?.closed, { timeout: 20_000 }).toBe("hung up by the service")
    }),
    60_000
  )

  it(
    "gives its answer up when that has no ACK for 64*T1, and the line is down",
    atTrunk(async (peer) => {
      const isDown = async () => {
        await peer.errors?.("one-call")
        return peer.dialogs.get("one-call")?.closed ?? null
      }
      await expect.poll(isDown, { timeout: 120_000, interval: 1_000 }).toBe("hung up by the peer")
    }),
    180_000
  )
})
