import type { WorkId } from "../../src/domain/Id.ts"
import type { MediaEnded } from "../../src/media/message/MediaMessage.ts"
import type { PlaneCommand } from "../../src/media/Protocol.ts"

export const play = (id: WorkId, url: string, loop = 1): PlaneCommand => ({ type: "play", id, url, loop })

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
