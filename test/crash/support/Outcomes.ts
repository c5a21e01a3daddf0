import type { World } from "./World.ts"

/**
 * Every accepted request has its outcome: each activity has the event that reports its end, as often as it was begun,
 * and none of it continues (guide/webhooks.md#events). Each line is one without.
 */
type Lines = ReadonlyArray<string>

interface Told {
  readonly callId: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

interface Row {
  /** The verbs of accepted requests of a call. */
  readonly verbs: ReadonlyArray<string>
  /** Whether an event reports such an end. */
  readonly tells: (event: Told) => boolean
  /** The id of the activity that ended, reported once. Null: a call has any number of these. */
  readonly id: string | null
  /** The most ends of a call that no verb caused. */
  readonly others: (of: { readonly accepted: (...verbs: ReadonlyArray<string>) => number }) => number
}

const ofType =
  (...types: ReadonlyArray<string>) =>
  ({ type }: Told) =>
    types.includes(type)

const none = () => 0
const any = () => Infinity
const prompts = ["gather_using_speak", "gather_using_audio"]
/** A failed prompt is reported, in each attempt of its gather. */
const ofPrompts: Row["others"] = ({ accepted }) => 2 * accepted(...prompts)

const rows: ReadonlyArray<Row> = [
  { verbs: ["play"], tells: ofType("call.playback_ended"), id: "playback_id", others: ofPrompts },
  { verbs: ["speak"], tells: ofType("call.speak_ended"), id: "speak_id", others: ofPrompts },
  { verbs: ["gather", ...prompts], tells: ofType("call.gather_complete"), id: null, others: none },
  {
    verbs: ["start_recording"],
    tells: ofType("recording.completed", "recording.failed"),
    id: "recording_id",
    others: () => 1
  },
  {
    verbs: ["streaming_start"],
    tells: ofType("stream.stopped", "stream.failed"),
    id: "stream_id",
    others: ({ accepted }) => accepted("answer")
  },
  {
    verbs: ["transfer"],
    tells: ({ data, type }) =>
      type === "call.transfer_failed" ||
      (type === "call.bridged" && data["bridged_call_id"] === null && data["conference_id"] === null),
    id: null,
    others: none
  },
  {
    verbs: ["bridge"],
    tells: ({ data, type }) =>
      type === "call.bridge_failed" || (type === "call.bridged" && data["bridged_call_id"] !== null),
    id: null,
    // Other calls bridge it, too.
    others: any
  },
  { verbs: ["refer"], tells: ofType("call.refer_completed", "call.refer_failed"), id: null, others: none }
]

const last = /\/v1\/calls\/([^/]+)\/actions\/([a-z_]+)$/u

export const outcomes = async (world: World): Promise<Lines> => {
  const database = world.database()
  const events = await database.query<Told>(`
    SELECT entity_id AS "callId", type, (body::jsonb) -> 'data' AS data FROM event WHERE entity_id LIKE 'svc_call_%'`)
  const told = Map.groupBy(events, ({ callId }) => callId)
  const accepted = Map.groupBy(
    world.client.commands.flatMap(({ answer, path }) => {
      const [, callId, verb] = last.exec(path) ?? []
      return callId === undefined || verb === undefined || answer === null || answer.status >= 300
        ? []
        : [{ callId, verb }]
    }),
    ({ callId }) => callId
  )
  const lines: Array<string> = []
  for (const callId of new Set([...told.keys(), ...accepted.keys()])) {
    const asked = accepted.get(callId) ?? []
    const count = (...verbs: ReadonlyArray<string>) => asked.filter(({ verb }) => verbs.includes(verb)).length
    const heard = told.get(callId) ?? []
    for (const { id, others, tells, verbs } of rows) {
      const ends = heard.filter(tells)
      const started = count(...verbs)
      const most = started + others({ accepted: count })
      if (ends.length < started || ends.length > most)
        lines.push(
          `${callId} was asked ${started} times for ${verbs.join(" or ")} and told ${ends.length} outcomes: ${shown(heard)}`
        )
      if (id === null) continue
      const ids = ends.map(({ data }) => data[id])
      if (new Set(ids).size !== ids.length || ids.includes(undefined))
        lines.push(`${callId} tells one end of ${verbs.join(" or ")} twice: ${shown(heard)}`)
    }
    const started = new Set(heard.filter(({ type }) => type === "stream.started").map(({ data }) => data["stream_id"]))
    if (started.size !== heard.filter(({ type }) => type === "stream.started").length)
      lines.push(`${callId} tells the begin of a stream twice: ${shown(heard)}`)
  }
  return [...lines, ...(await unfinished(world))]
}

const shown = (events: ReadonlyArray<Told>): string => events.map(({ type }) => type).join(", ")

/** Work with rows of its own that has not ended though its call has. */
const unfinished = async (world: World): Promise<Lines> => {
  const rows = await world.database().query<{ readonly line: string }>(`
    SELECT 'the transcription ' || t.id || ' of ' || t.call_id || ' is still active' AS line FROM transcription t
      JOIN entity e ON e.id = t.call_id AND e.settled WHERE t.status = 'active'
    UNION ALL
    SELECT 'the transcription ' || t.id || ' tells ' || count(s.id) || ' phrases and ' ||
      (SELECT count(*) FROM event WHERE entity_id = t.call_id AND type = 'call.transcript_chunk'
         AND (body::jsonb) #>> '{data,transcription_id}' = t.id) || ' events'
    FROM transcription t LEFT JOIN transcript_segment s ON s.transcription_id = t.id GROUP BY t.id, t.call_id
    HAVING count(s.id) <> (SELECT count(*) FROM event WHERE entity_id = t.call_id AND type = 'call.transcript_chunk'
         AND (body::jsonb) #>> '{data,transcription_id}' = t.id)
    UNION ALL
    SELECT 'nobody knows who answered ' || e.id FROM entity e
    WHERE e.kind = 'call' AND e.settled AND e.state #>> '{plan,machineDetection}' = 'premium'
      AND e.state ->> 'answeredAt' IS NOT NULL
      AND NOT EXISTS (SELECT FROM event v WHERE v.entity_id = e.id AND v.type = 'call.amd_complete')`)
  return rows.map(({ line }) => line)
}
