import type { WorkId } from "../../../src/domain/Id.ts"
import type { MediaEnded } from "../../../src/ports/media/MediaMessage.ts"
import type { Target } from "../../../src/ports/media/PlaybackMessages.ts"
import type { PlaneCommand } from "../../../src/media/plane/Protocol.ts"

export const play = (id: WorkId, url: string, loop = 1, target: Target = "self"): PlaneCommand => ({
  type: "play",
  id,
  url,
  loop,
  target
})

const speech = (text: string) => ({ text, textType: "text", voice: "fake.anna", language: null }) as const

/** Speaks a text as `FakeSpeech` renders it. */
export const speak = (id: WorkId, text: string): PlaneCommand => ({ type: "speak", id, speech: speech(text) })

export const prompt = (id: WorkId, text: string, stoppedBy = "0123456789*#"): PlaneCommand => ({
  type: "prompt",
  id,
  sound: { type: "speech", speech: speech(text) },
  stoppedBy
})

export const stopPlayback: PlaneCommand = { type: "stop_playback", which: "all" }

export const dtmf = (id: WorkId, digits: string, durationMs = 100): PlaneCommand => ({
  type: "send_dtmf",
  id,
  digits,
  durationMs
})

export const completed = (id: WorkId): MediaEnded => ({ type: "ended", id, status: "completed", reason: null })
export const stopped = (id: WorkId): MediaEnded => ({ type: "ended", id, status: "stopped", reason: null })
export const failed = (id: WorkId, reason: string): MediaEnded => ({ type: "ended", id, status: "failed", reason })
