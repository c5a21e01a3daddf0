import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { Result } from "effect"
import type { SampleRate } from "../../../protocol/audio/SampleRate.ts"
import { type AudioFile, start, isWithinBudget } from "../../sound/AudioDecoder.ts"
import type { FromDecoder, ToDecoder } from "./DecodeThread.ts"
import * as ThreadPriority from "../../../runtime/process/ThreadPriority.ts"

/** A thread that decodes sound files, one turn at a time; it may be terminated in the middle of a turn. */
const port = parentPort
if (port === null) throw new Error("DecodeWorker is a worker thread")
const say = (message: FromDecoder) => port.postMessage(message)

/** How long a turn lasts; one chunk of a file may take longer. */
const turnMs = 10

interface File {
  readonly file: AudioFile
  readonly rate: SampleRate
  /** Null before its first turn. */
  started: ReturnType<typeof start> | null
  cpuMs: number
  soundMs: number
}
const files = new Map<number, File>()

/** Copies samples into shared memory, so that the cache and the media thread read the same memory. */
const shared = (samples: Int16Array): Int16Array => {
  const copy = new Int16Array(new SharedArrayBuffer(samples.byteLength))
  copy.set(samples)
  return copy
}

const cpuMs = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}

const turn = async (id: number, file: File): Promise<void> => {
  const before = cpuMs()
  const endsAt = performance.now() + turnMs
  file.started ??= start(file.file, file.rate)
  const started = await file.started
  const next = Result.flatMap(started, ({ pieces }) => pieces.next(() => performance.now() >= endsAt))
  const threadMs = cpuMs()
  const used = threadMs - before
  const of = { id, cpuMs: used, threadMs }
  file.cpuMs += used
  if (Result.isFailure(next)) return say({ ...of, type: "fault", reason: next.failure })
  file.soundMs += ((next.success?.samples.length ?? 0) * 1000) / file.rate
  if (!isWithinBudget(file.cpuMs, file.soundMs)) return say({ ...of, type: "fault", reason: "decode_limit" })
  if (next.success === null) return say({ ...of, type: "more" })
  say({ ...of, type: "piece", piece: { ...next.success, samples: shared(next.success.samples) } })
}

const close = (id: number): void => {
  const file = files.get(id)
  files.delete(id)
  void file?.started?.then(Result.match({ onSuccess: ({ free }) => free(), onFailure: () => undefined }))
}

port.on("message", (message: ToDecoder) => {
  switch (message.type) {
    case "open":
      return void files.set(message.id, { file: message.file, rate: message.rate, started: null, cpuMs: 0, soundMs: 0 })
    case "next": {
      const file = files.get(message.id)
      return file === undefined ? undefined : void turn(message.id, file)
    }
    case "close":
      return close(message.id)
  }
})
// The FLAC codec prints each broken frame, of which a file may have any number. This thread reports by messages alone.
// oxlint-disable-next-line no-console -- nothing is printed here
console.error = () => undefined
ThreadPriority.lower({ platform: process.platform, setPriority })
say({ type: "ready" })
