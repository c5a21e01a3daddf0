import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { Effect, Result } from "effect"
import * as SpeechCommand from "./SpeechCommand.ts"
import { type Give, SpeechFailed, type Utterance } from "../Engine.ts"
import * as Message from "./Message.ts"

/** The wait before a program that died before it was ready is started again. */
const restartMs = 1_000
/** How long a stopped utterance, or a program that ends, may take. */
const graceMs = 500
/** The longest time until the program is ready: it has a low priority, and a busy machine gives it little. */
const readyMs = 120_000

interface Options {
  /** This Node runs the program. */
  readonly program: URL
  /** Whether the process starts now, or with its first utterance. */
  readonly isEager: boolean
  readonly onDied: () => void
}

interface Job {
  readonly id: number
  readonly give: Give
  readonly settle: (outcome: Effect.Effect<void, SpeechFailed>) => void
}

const failed = Effect.fail(new SpeechFailed({ reason: "speech_failed" }))

/**
 * One process that speaks one utterance at a time. It is started again when it dies, when it writes garbage, and when
 * it continues a stopped utterance for too long; the utterance that it was speaking fails.
 */
export const make = ({ isEager, onDied, program }: Options) => {
  let child: ChildProcessByStdio<Writable, Readable, null> | null = null
  let job: Job | null = null
  /** The caller no longer wants the job. */
  let isStopped = false
  let timer: NodeJS.Timeout | null = null
  let isReady = false
  /** The program has announced that it ends. */
  let isEnding = false
  let isClosed = false
  let lastId = 0
  /** The utterance that waits until the process is ready, or done with a stopped one. */
  let next: (() => void) | null = null

  const setTimer = (ms: number, then: () => void): void => {
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(then, ms)
    timer.unref()
  }

  const kill = (): void => void child?.kill("SIGKILL")

  const free = (): void => {
    job = null
    isStopped = false
    if (timer !== null) clearTimeout(timer)
    timer = null
    const waiting = next
    next = null
    waiting?.()
  }

  const heard = ({ bytes, message }: Message.Read): void => {
    const told = message as Message.Told
    switch (told.type) {
      case "ready":
        isReady = true
        return free()
      case "sound":
        if (job?.id === told.id) job.give({ rate: told.rate, samples: samplesOf(bytes) })
        return
      case "end":
        if (job?.id !== told.id) return
        job.settle(Effect.void)
        if (!told.isLast) return free()
        // A waiting utterance waits until the next process is ready.
        job = null
        isStopped = false
        isReady = false
        isEnding = true
        return setTimer(graceMs, kill)
      default:
        return kill()
    }
  }

  const start = (): void => {
    if (isClosed) return
    isReady = false
    isEnding = false
    const started = spawn(process.execPath, ["--disable-sigusr1", "--max-old-space-size=128", program.pathname], {
      stdio: ["pipe", "pipe", "ignore"],
      env: {},
      // In a group of its own, it does not get the signals of the service while it is still loaded.
      detached: true
    })
    child = started
    SpeechCommand.nice(started)
    started.unref()
    const read = Message.reader()
    started.stdin.on("error", () => undefined)
    started.stdout.on("data", (bytes: Buffer) => {
      const messages = read(bytes)
      if (Result.isFailure(messages)) return kill()
      try {
        for (const message of messages.success) heard(message)
      } catch {
        kill()
      }
    })
    started.on("error", () => undefined)
    started.on("close", () => {
      if (child !== started) return
      child = null
      const wasReady = isReady
      isReady = false
      const lost = job
      job = null
      isStopped = false
      if (!isClosed) {
        if (!isEnding) onDied()
        if (wasReady || isEnding) start()
        else
          setTimer(restartMs, () => {
            timer = null
            start()
          })
      }
      // The caller may ask for the next utterance at once, which must find the process that is started above.
      lost?.settle(failed)
    })
    setTimer(readyMs, kill)
  }

  const startText = (utterance: Utterance, given: Job): void => {
    job = given
    child?.stdin.write(Message.write({ type: "say", id: given.id, ...utterance }))
  }

  const startIfNone = (): void => {
    if (child === null && timer === null) start()
  }

  if (isEager) start()

  return {
    /** Starts the process where it waits for its first utterance. */
    prepare: startIfNone,
    /** 0: an utterance can begin at once; 1: soon; 2: the process is busy. */
    load: (): 0 | 1 | 2 => (next !== null || (job !== null && !isStopped) ? 2 : job !== null || !isReady ? 1 : 0),
    speak: (utterance: Utterance, give: Give): Effect.Effect<void, SpeechFailed> =>
      Effect.callback<void, SpeechFailed>((resume) => {
        if (isClosed) return resume(failed)
        const mine: Job = { id: ++lastId, give, settle: resume }
        const mayStart = () => startText(utterance, mine)
        startIfNone()
        if (isReady && job === null) mayStart()
        else next = mayStart
        return Effect.sync(() => {
          if (next === mayStart) next = null
          if (job !== mine) return
          // The caller receives nothing more of this job.
          isStopped = true
          child?.stdin.write(Message.write({ type: "stop", id: mine.id }))
          job = { id: mine.id, give: () => undefined, settle: () => undefined }
          setTimer(graceMs, kill)
        })
      }),
    close: (): void => {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      kill()
    }
  }
}

const samplesOf = (bytes: Uint8Array): Int16Array => {
  const samples = new Int16Array(bytes.length >> 1)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(2 * i, true)
  return samples
}
