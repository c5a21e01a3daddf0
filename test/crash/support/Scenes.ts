import * as StreamServer from "./peer/StreamServer.ts"

/** The scenes of a call: the verbs of one kind, one after the other, at random moments. */
export interface Stage {
  readonly random: () => number
  /** Unique in the world. */
  readonly key: () => string
  /** The URLs of the receiver, by HTTPS and by WebSocket. */
  readonly baseUrl: string
  readonly socketUrl: string
  /** A leg that the call may be bridged with; null: none is known. */
  readonly otherLeg: () => string | null
  /** Waits for a time between the two; false: the call has ended, or the service no longer answers. */
  readonly pause: (lowMs: number, highMs: number) => Promise<boolean>
  /**
   * Asks for an action, and gives whether it was accepted. `tag`: a number in its body that distinguishes it from
   * others of its verb on the call; each verb without a tag is requested once on a call.
   */
  readonly act: (verb: string, body: object, tag?: number | string) => Promise<boolean>
  /** The recording has begun by `sinceMs` and continues until `untilMs`, on the monotonic clock. */
  readonly records: (sinceMs: number) => void
  readonly recordsUntil: (untilMs: number) => void
}

const pick = <A>(random: () => number, items: ReadonlyArray<A>): A => {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error("nothing to pick from")
  return item
}

/** The file of a recording, by the names of `start_recording`. */
export const file = (random: () => number) => ({
  channels: pick(random, ["single", "dual"]),
  format: pick(random, ["wav", "mp3"])
})

/** The fields of a stream, except those of its protocol. */
export const stream = ({ key, random, socketUrl }: Pick<Stage, "key" | "random" | "socketUrl">) => ({
  stream_url: `${socketUrl}/stream/${pick(random, StreamServer.moods)}/${key()}`,
  stream_track: pick(random, ["inbound_track", "outbound_track"]),
  stream_bidirectional_mode: "rtp"
})

/** Longer than any call here. */
const longMs = 60_000

const record = async ({ act, pause, random, records, recordsUntil }: Stage): Promise<void> => {
  const limitSecs = random() < 0.2 ? 1 : null
  const body = { ...file(random), play_beep: random() < 0.3, ...(limitSecs === null ? {} : { max_length: limitSecs }) }
  if (!(await act("start_recording", body))) return
  const now = performance.now()
  records(now)
  if (limitSecs !== null) recordsUntil(now + 1000 * limitSecs)
  if (!(await pause(100, 1_500))) return
  if (random() < 0.3) {
    await act("pause_recording", {})
    if (!(await pause(50, 500))) return
    if (random() < 0.7) await act("resume_recording", {})
    if (!(await pause(50, 1_000))) return
  }
  if (random() < 0.5) return
  recordsUntil(performance.now())
  await act("stop_recording", {})
}

const talkToServer = async (stage: Stage): Promise<void> => {
  if (!(await stage.act("streaming_start", stream(stage))) || !(await stage.pause(100, 2_000))) return
  if (stage.random() < 0.4) await stage.act("streaming_stop", {})
}

/** Only this number distinguishes the gathers of a call. */
let gathers = 0

const gather = async ({ act, baseUrl, key, pause, random }: Stage): Promise<void> => {
  const timeout = longMs + (gathers++ % 400_000)
  const limits = { maximum_digits: 4, timeout_millis: timeout }
  const mood = random()
  const accepted = await (mood < 0.4
    ? act("gather", limits, timeout)
    : mood < 0.7
      ? act("gather_using_speak", { ...limits, payload: "Please say your number.", voice: "female", maximum_tries: 2 })
      : act("gather_using_audio", { ...limits, audio_url: `${baseUrl}/tone.wav/${key()}`, maximum_tries: 2 }))
  if (!accepted || !(await pause(100, 2_000))) return
  if (random() < 0.3) await act("stop_gather", {})
}

const play = async ({ act, baseUrl, key, pause, random }: Stage): Promise<void> => {
  // Its key is in the path: the part after a path is sealed where it is stored, as digits are.
  const url = `${baseUrl}/tone.wav/${key()}`
  if (random() < 0.7) await act("play", { url, loop: pick(random, [1, 3]) }, url)
  if (!(await pause(0, 500))) return
  if (random() < 0.7) await act("speak", { payload: "Good day. How are you? I am well.", voice: "female" })
  if (!(await pause(100, 1_500))) return
  if (random() < 0.2) await act("stop_playback", {})
}

const dial = async ({ act, random }: Stage): Promise<void> => {
  const duration = 100 + Math.floor(random() * 400)
  await act("send_dtmf", { digits: "123", duration_millis: duration }, duration)
}

/** Answers, is busy, rings for ever, rejects, hangs up soon. */
const seconds = ["0100", "0100", "0101", "0102", "0103", "0106"]

const transfer = async ({ act, random }: Stage): Promise<void> => {
  await act("transfer", { to: `+1202555${pick(random, seconds)}`, timeout_secs: pick(random, [1, 2, 3]) })
}

const bridge = async ({ act, otherLeg }: Stage): Promise<void> => {
  const legId = otherLeg()
  if (legId !== null) await act("bridge", { leg_id: legId })
}

const refer = async ({ act }: Stage): Promise<void> => {
  await act("refer", { sip_address: "sip:+12025550100@127.0.0.1" })
}

const transcribe = async ({ act, pause, random }: Stage): Promise<void> => {
  const transcription_tracks = pick(random, ["inbound", "outbound", "both"])
  if (!(await act("transcription_start", { transcription_tracks })) || !(await pause(500, 2_500))) return
  if (random() < 0.4) await act("transcription_stop", {})
}

type Scene = (stage: Stage) => Promise<void>

/** Long scenes come most often, and scenes that end a call seldom. */
const scenes: ReadonlyArray<Scene> = [
  record,
  record,
  record,
  talkToServer,
  talkToServer,
  gather,
  gather,
  play,
  play,
  dial,
  transfer,
  bridge,
  transcribe,
  transcribe
]

/** Up to three scenes at once, each once. */
export const chosen = (random: () => number, mayRefer: boolean): ReadonlySet<Scene> =>
  new Set(
    mayRefer && random() < 0.05 ? [refer] : Array.from({ length: Math.floor(random() * 4) }, () => pick(random, scenes))
  )
