import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import type { Piece } from "../../../protocol/audio/file/Pieces.ts"
import type { SampleRate } from "../../../protocol/audio/SampleRate.ts"
import * as FairQueue from "../../../domain/fair/FairQueue.ts"
import { type AudioFile, AudioUnreadable, DecoderLost, type Reading } from "../../sound/AudioDecoder.ts"
import type { FromDecoder, ToDecoder, Turn } from "./DecodeThread.ts"

/** The outcome of a turn, or of the thread. */
export type Report =
  | { readonly type: "turn"; readonly cpuMs: number }
  | { readonly type: "waited"; readonly ms: number }
  | { readonly type: "died"; readonly reason: string }

interface Options {
  readonly program: URL
  /** The monotonic time in milliseconds. */
  readonly now: () => number
  readonly report: (report: Report) => void
  /**
   * A turn takes some 10 ms of the processor. A thread that has not ended one after this long is looked at: it hangs in
   * a codec when it has used half of that time, and waits for the processor of a busy machine when it has not.
   */
  readonly hangMs: number
}

/** The most pieces that may wait for a thread; further ones fail as `overloaded`. */
const capacity = 4096
/** A turn that is looked at so often hangs, however little of the processor it uses. */
const mostLooks = 12
/** How long to wait before a thread that died before it was ready is started again. */
const restartMs = 1_000
/** The memory limit of a codec in MiB; the thread ends when it takes more. */
const memoryMib = 512

interface OpenFile {
  readonly id: number
  readonly file: AudioFile
  readonly rate: SampleRate
  /** The thread that has it open; null before its first turn. */
  thread: Worker | null
  /** Its last piece was lost, because its reader was interrupted. */
  isBroken: boolean
}

interface Job {
  readonly of: OpenFile
  readonly holder: string
  readonly since: number
  readonly settle: (outcome: Effect.Effect<Piece, AudioUnreadable | DecoderLost>) => void
}

export type DecoderThread = ReturnType<typeof make>

/**
 * One decoding thread and its queue. Turns go to the holders by their fair shares, so that a short file overtakes
 * another holder's long one.
 *
 * A thread that dies or hangs is replaced. The file that it was decoding fails, and the others are lost with it
 * (`DecoderLost`): they can be opened again.
 */
export const make = ({ hangMs, now, program, report }: Options) => {
  const files = new Set<OpenFile>()
  const jobs = FairQueue.make<Job>({ places: 1, capacity })
  let worker: Worker | null = null
  let running: Job | null = null
  let watch: NodeJS.Timeout | null = null
  let restart: NodeJS.Timeout | null = null
  let isReady = false
  let isHung = false
  /** The CPU time that the thread had used at the end of its last turn. */
  let usedMs = 0
  let isClosed = false
  let lastId = 0

  const post = (message: ToDecoder): void => worker?.postMessage(message, [])

  const isLost = (of: OpenFile): boolean => of.isBroken || (of.thread !== null && of.thread !== worker)

  const startFile = (): void => {
    if (worker === null || !isReady || running !== null) return
    const job = jobs.next()
    if (job === null) return
    const { of } = job
    if (isLost(of)) {
      jobs.end(job.holder, 0)
      job.settle(Effect.fail(new DecoderLost()))
      return startFile()
    }
    running = job
    look(worker, job, 1)
    const { file, id, rate } = of
    if (of.thread === null) post({ type: "open", id, file, rate })
    of.thread = worker
    post({ type: "next", id })
  }

  const look = (thread: Worker, job: Job, looks: number): void => {
    const terminate = (): void => {
      if (running !== job) return
      isHung = true
      void thread.terminate()
    }
    watch = setTimeout(() => {
      if (looks >= mostLooks) return terminate()
      const used = ({ system, user }: NodeJS.CpuUsage): number => (system + user) / 1000 - usedMs
      // A codec may not answer, and is then looked at again.
      void thread.cpuUsage().then(
        (usage) => (used(usage) >= hangMs / 2 ? terminate() : undefined),
        () => undefined
      )
      look(thread, job, looks + 1)
    }, hangMs)
  }

  /** Ends the turn of the running job, if there is one. */
  const end = (cpuMs: number): Job | null => {
    const job = running
    running = null
    if (watch !== null) clearTimeout(watch)
    watch = null
    if (job !== null) jobs.end(job.holder, cpuMs)
    return job
  }

  const line = (job: Job): void => {
    if (!jobs.add(job.holder, job)) job.settle(Effect.fail(new AudioUnreadable({ reason: "overloaded" })))
  }

  const heard = (message: FromDecoder): void => {
    if (message.type === "ready") {
      isReady = true
      return startFile()
    }
    if (running?.of.id === message.id) ended(message)
  }

  const ended = (message: Turn): void => {
    usedMs = message.threadMs
    const job = end(message.cpuMs)
    report({ type: "turn", cpuMs: message.cpuMs })
    if (job !== null)
      switch (message.type) {
        case "more":
          line(job)
          break
        case "piece":
          job.settle(Effect.succeed(message.piece))
          break
        case "fault":
          job.settle(Effect.fail(new AudioUnreadable({ reason: message.reason })))
      }
    startFile()
  }

  const died = (reason: string): void => {
    report({ type: "died", reason })
    const guilty = end(0)
    // The readers of other files get `DecoderLost` when their turn comes.
    guilty?.settle(Effect.fail(new AudioUnreadable({ reason: isHung ? "decode_limit" : "unsupported_format" })))
    isHung = false
    if (isReady) start()
    else restart = setTimeout(start, restartMs)
  }

  const start = (): void => {
    restart = null
    isReady = false
    usedMs = 0
    // The codec writes remarks on a file to stderr, which are discarded.
    const thread = new Worker(program, { stderr: true, resourceLimits: { maxOldGenerationSizeMb: memoryMib } })
    let reason = "it ended"
    worker = thread
    thread.stderr.resume()
    thread.unref()
    thread.on("message", heard)
    thread.on("error", (error) => {
      reason = String(error)
    })
    thread.on("exit", () => {
      if (worker !== thread) return
      worker = null
      if (!isClosed) died(isHung ? "it hung" : reason)
    })
  }

  const next = (of: OpenFile, holder: string) =>
    Effect.callback<Piece, AudioUnreadable | DecoderLost>((resume) => {
      if (isLost(of) || isClosed) return resume(Effect.fail(new DecoderLost()))
      const since = now()
      const job: Job = {
        of,
        holder,
        since,
        settle: (outcome) => {
          report({ type: "waited", ms: now() - since })
          resume(outcome)
        }
      }
      line(job)
      startFile()
      return Effect.sync(() => {
        // The sound that was decoded meanwhile would be missing before the next piece.
        of.isBroken = true
        jobs.leave(holder, job)
      })
    })

  start()

  return {
    open: (file: AudioFile, rate: SampleRate): Reading => {
      const of: OpenFile = { id: ++lastId, file, rate, thread: null, isBroken: false }
      files.add(of)
      return {
        next: (holder) => next(of, holder),
        close: () => {
          if (files.delete(of) && of.thread === worker) post({ type: "close", id: of.id })
        }
      }
    },
    /** The number of open files. */
    size: (): number => files.size,
    waiting: (): number => jobs.waiting(),
    /** How long the reader of the piece that is being decoded has waited. */
    ageMs: (): number => (running === null ? 0 : now() - running.since),
    close: async (): Promise<void> => {
      isClosed = true
      end(0)?.settle(Effect.fail(new DecoderLost()))
      if (restart !== null) clearTimeout(restart)
      await worker?.terminate()
    }
  }
}
