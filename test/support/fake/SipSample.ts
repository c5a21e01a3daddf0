/** SIP messages for tests, and the outputs of a transaction machine in words. */
import * as Requests from "../../../src/protocol/sip/message/Requests.ts"
import * as Responses from "../../../src/protocol/sip/message/Responses.ts"
import type { Flow } from "../../../src/protocol/sip/Flow.ts"
import type { Endpoint, SipMessage, SipRequest, SipResponse } from "../../../src/protocol/sip/message/SipMessage.ts"
import type * as Transaction from "../../../src/protocol/sip/transaction/Transaction.ts"

/** A flow of datagrams between us and that address. */
export const flow = (remote: Endpoint, local: Endpoint = { address: "192.0.2.1", port: 5060 }): Flow => ({
  transport: "udp",
  local,
  remote,
  connection: null
})

export const request = (method: string, more: Partial<Requests.Fields> = {}): SipRequest =>
  Requests.make({
    method,
    uri: "sip:bob@192.0.2.2",
    sentBy: "192.0.2.1:5060",
    branch: "z9hG4bKalice1",
    from: '"Alice" <sip:alice@192.0.2.1>;tag=alice',
    to: "<sip:bob@192.0.2.2>",
    callId: "call-1@192.0.2.1",
    cseq: 1,
    ...(method === "INVITE" ? { contact: "<sip:alice@192.0.2.1:5060>" } : {}),
    ...more
  })

export const response = (to: SipRequest, status: number, more: Responses.Options = {}): SipResponse =>
  Responses.make(to, status, { toTag: "bob", contact: "<sip:bob@192.0.2.2:5062>", ...more })

export const name = (message: SipMessage): string =>
  message.type === "request" ? message.method : String(message.status)

export const words = (outputs: ReadonlyArray<Transaction.Output>): ReadonlyArray<string> =>
  outputs.map((output) => {
    switch (output.type) {
      case "send":
      case "deliver":
        return `${output.type} ${name(output.message)}`
      case "failed":
        return `failed ${output.reason}`
      case "terminated":
        return "terminated"
    }
  })
