/**
 * A phone menu in a page, as an ordinary HTTP handler: it answers and records, offers a choice, connects to sales, and
 * says goodbye to a silent caller. `ivr.test.ts` beside it is its test.
 */
import { createHmac, timingSafeEqual } from "node:crypto"

interface Options {
  /** The URL of the API. */
  readonly baseUrl: string
  readonly apiKey: string
  /** The secret that signs the events. */
  readonly secret: () => string
  /** The number of the sales team. */
  readonly sales: string
}

const voice = "female"
const menu = "Welcome to Acme. For sales, press 1."

export const ivr = ({ apiKey, baseUrl, sales, secret }: Options) => {
  const act = async (call: string, verb: string, body: object = {}): Promise<void> => {
    const response = await fetch(`${baseUrl}/v1/calls/${call}/actions/${verb}`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    // The caller may have hung up meanwhile.
    if (!response.ok && response.status !== 409) throw new Error(`${verb}: ${response.status} ${await response.text()}`)
  }

  const isSigned = (body: string, headers: Headers): boolean => {
    const signed = `${headers.get("x-webhook-timestamp")}.${body}`
    const wanted = Buffer.from(`sha256=${createHmac("sha256", secret()).update(signed).digest("hex")}`)
    const given = Buffer.from(headers.get("x-webhook-signature") ?? "")
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  }

  return async (request: Request): Promise<Response> => {
    const body = await request.text()
    if (!isSigned(body, request.headers)) return new Response("who are you?", { status: 401 })
    const { data, event_type: type } = JSON.parse(body)
    const call = data.call_id
    if (type === "call.started" && data.direction === "inbound")
      await act(call, "answer", { record: "on_answer", record_channels: "dual", record_format: "wav" })
    if (type === "call.answered")
      await act(call, "gather_using_speak", {
        payload: menu,
        invalid_payload: "That was not 1.",
        voice,
        maximum_digits: 1,
        valid_digits: "1",
        maximum_tries: 3
      })
    if (type === "call.gather_complete" && data.status === "valid") await act(call, "transfer", { to: sales })
    if (type === "call.gather_complete" && (data.status === "timeout" || data.status === "invalid"))
      await act(call, "speak", { payload: "Goodbye.", voice })
    if (type === "call.transfer_failed")
      await act(call, "speak", { payload: "Nobody is free. Please call again.", voice })
    if (type === "call.speak_ended") await act(call, "hangup")
    return new Response(null, { status: 204 })
  }
}
