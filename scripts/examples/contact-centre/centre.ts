/**
 * A contact centre in a page, as an ordinary HTTP handler: each caller is put into a room with an agent, and a
 * supervisor listens and whispers to the agent. `centre.test.ts` beside it is its test.
 */
interface Options {
  /** The URL of the API. */
  readonly baseUrl: string
  readonly apiKey: string
  /** The number that customers call, and from which we call the others. */
  readonly number: string
  readonly agent: string
  readonly supervisor: string
}

interface Participant {
  readonly id: string
  readonly call_id: string
  readonly leg_id: string
  readonly role: "host" | "participant"
}

/** The purpose of a call that we place, which is the `customer_reference` on each of its events. */
type Purpose =
  | { readonly type: "agent"; readonly customer: string }
  | { readonly type: "supervisor"; readonly room: string }

export const centre = ({ agent, apiKey, baseUrl, number, supervisor }: Options) => {
  // oxlint-disable-next-line typescript/no-explicit-any -- the document of the API says what is in it
  const ask = async (method: string, path: string, key: string, body?: object): Promise<any> => {
    const response = await fetch(`${baseUrl}/v1/${path}`, {
      method,
      // The same event may come twice, but its requests take effect once.
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "idempotency-key": key },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    // A party may have hung up meanwhile.
    if (!response.ok && response.status !== 409) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  const place = (to: string, purpose: Purpose, key: string) =>
    ask("POST", "calls", key, { from: number, to, customer_reference: JSON.stringify(purpose) })

  return async (request: Request): Promise<Response> => {
    const { data, event_id: key, event_type: type } = JSON.parse(await request.text())
    const purpose: Purpose | null = JSON.parse(data.customer_reference ?? "null")

    if (type === "call.started" && data.direction === "inbound")
      await ask("POST", `calls/${data.call_id}/actions/answer`, key)

    if (type === "call.answered" && purpose === null) {
      await ask("POST", `calls/${data.call_id}/actions/speak`, key, { payload: "One moment.", voice: "female" })
      await place(agent, { type: "agent", customer: data.call_id }, `${key} agent`)
    }

    // The agent's call hosts the room: when the agent leaves, all calls end.
    if (type === "call.answered" && purpose?.type === "agent") {
      const room = await ask("POST", "conferences/", key, { name: purpose.customer, host_call_id: data.call_id })
      await ask("POST", `conferences/${room.id}/actions/join/`, `${key} join`, { call_id: purpose.customer })
      await place(supervisor, { type: "supervisor", room: room.id }, `${key} supervisor`)
    }

    // The supervisor is muted until the room knows which legs may hear it.
    if (type === "call.answered" && purpose?.type === "supervisor")
      await ask("POST", `conferences/${purpose.room}/actions/join/`, key, { call_id: data.call_id, mute: true })

    if (type === "conference.member_joined" && data.role === "participant") {
      const call = await ask("GET", `calls/${data.call_id}`, key)
      const { participants } = await ask("GET", `conferences/${data.conference_id}/`, key)
      const legs = (role: string) =>
        (participants as ReadonlyArray<Participant>).filter((each) => each.role === role).map(({ leg_id }) => leg_id)
      const leg = call.legs[0].id
      if (call.customer_reference !== null) {
        const act = (verb: string, body: object) =>
          ask("POST", `conferences/${data.conference_id}/actions/${verb}/`, `${key} ${verb}`, body)
        await act("supervise", { leg_id: leg, role: "whisper", whisper_leg_ids: legs("host") })
        await act("unmute", { leg_ids: [leg] })
      }
    }

    if (type === "call.ended" && data.status === "failed" && purpose?.type === "agent")
      await ask("POST", `calls/${purpose.customer}/actions/hangup`, key)
    return new Response(null, { status: 204 })
  }
}
