/**
 * A contact centre in a page, as an ordinary HTTP handler: each caller hosts a room into which an agent is dialled, and
 * a supervisor listens and whispers to the agent. The customer stays when the agent's phone dies, and the next agent is
 * dialled. `centre.test.ts` beside it is its test.
 */
interface Options {
  /** The URL of the API. */
  readonly baseUrl: string
  readonly apiKey: string
  /** The number that customers call, and from which we call the others. */
  readonly number: string
  /** They are dialled one after the other. */
  readonly agents: ReadonlyArray<string>
  readonly supervisor: string
  /** The URL of the music for a customer who waits. */
  readonly music?: string
}

interface Participant {
  readonly leg_id: string
  readonly role: "host" | "participant"
  readonly joined_at: string | null
  readonly left_at: string | null
}

/** The purpose of a call that we place, which is the `customer_reference` on each of its events. */
type Purpose =
  | { readonly type: "agent"; readonly room: string; readonly nth: number }
  | { readonly type: "supervisor"; readonly room: string }

export const centre = ({ agents, apiKey, baseUrl, music, number, supervisor }: Options) => {
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
  const dial = (to: string, purpose: Purpose, key: string, more: object = {}) =>
    ask("POST", `conferences/${purpose.room}/participants/`, key, {
      from: number,
      to,
      timeout_secs: 20,
      customer_reference: JSON.stringify(purpose),
      ...more
    })
  /** Dials the agent whose turn it is; the room ends when there is none. */
  const find = (room: string, nth: number, key: string) => {
    const agent = agents[nth]
    return agent === undefined
      ? ask("POST", `conferences/${room}/actions/end/`, key)
      : dial(agent, { type: "agent", room, nth }, key)
  }
  const speak = (call: string, key: string, payload: string) =>
    ask("POST", `calls/${call}/actions/speak`, key, { payload, voice: "female" })

  return async (request: Request): Promise<Response> => {
    const { data, event_id: key, event_type: type } = JSON.parse(await request.text())
    const purpose: Purpose | null = JSON.parse(data.customer_reference ?? "null")

    if (type === "call.started" && data.direction === "inbound")
      await ask("POST", `calls/${data.call_id}/actions/answer`, key)

    // The customer's call hosts the room: it ends when the customer leaves, and not when an agent does.
    if (type === "call.answered" && purpose === null) {
      await speak(data.call_id, `${key} speak`, "One moment.")
      const room = await ask("POST", "conferences/", key, {
        name: data.call_id,
        host_call_id: data.call_id,
        start_on_create: false,
        ...(music === undefined ? {} : { hold_audio_url: music })
      })
      await find(room.id, 0, `${key} agent`)
    }

    if (type === "conference.member_joined" && purpose?.type === "agent") {
      const whisper = { role: "whisper", whisper_leg_ids: [data.leg_id] }
      const { participants } = await ask("GET", `conferences/${purpose.room}/`, key)
      const supervisors = (participants as ReadonlyArray<Participant>).filter(
        ({ joined_at, leg_id, left_at, role }) =>
          role !== "host" && joined_at !== null && left_at === null && leg_id !== data.leg_id
      )
      for (const { leg_id } of supervisors)
        await ask("POST", `conferences/${purpose.room}/actions/supervise/`, `${key} whisper`, { leg_id, ...whisper })
      // The supervisor has its role before it is in, so the customer never hears it.
      if (supervisors.length === 0)
        await dial(supervisor, { type: "supervisor", room: purpose.room }, `${key} supervisor`, whisper)
    }

    // An agent's own key ends the conversation. Without it, the agent's phone has died, and the customer stays.
    if (type === "call.dtmf" && purpose?.type === "agent" && data.digit === "#")
      await ask("POST", `conferences/${purpose.room}/actions/end/`, key)

    if (type === "conference.member_left" && purpose?.type === "agent" && data.reason === "call_ended") {
      const { host_call_id } = await ask("GET", `conferences/${purpose.room}/`, key)
      await speak(host_call_id, `${key} speak`, "Please stay on the line.")
    }
    // Also for an agent that is busy, or does not answer.
    if (type === "call.ended" && purpose?.type === "agent" && data.end_reason !== "conference_ended")
      await find(purpose.room, purpose.nth + 1, key)
    return new Response(null, { status: 204 })
  }
}
