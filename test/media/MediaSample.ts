import type { MediaCommand, MediaEnded } from "../../src/media/message/MediaMessage.ts"

export const play = (id: string, url: string, loop = 1): MediaCommand => ({ type: "play", id, url, loop })

export const stopPlayback: MediaCommand = { type: "stop_playback", which: "all" }

export const dtmf = (id: string, digits: string, durationMs = 100): MediaCommand => ({
  type: "send_dtmf",
  id,
  digits,
  durationMs
})

export const completed = (id: string): MediaEnded => ({ type: "ended", id, status: "completed", reason: null })
export const stopped = (id: string): MediaEnded => ({ type: "ended", id, status: "stopped", reason: null })
export const failed = (id: string, reason: string): MediaEnded => ({ type: "ended", id, status: "failed", reason })
