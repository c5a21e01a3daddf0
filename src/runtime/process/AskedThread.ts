import { Data, Effect } from "effect"

/** The part of `Worker` of `node:worker_threads` that is used here. */
interface Thread {
  readonly postMessage: (message: unknown, moved: ReadonlyArray<ArrayBuffer>) => void
  readonly on: {
    (event: "message", listener: (message: unknown) => void): unknown
    (event: "error", listener: (error: unknown) => void): unknown
    (event: "exit", listener: () => void): unknown
  }
  readonly unref: () => void
  readonly terminate: () => Promise<unknown>
}

/** The thread ended before it answered. Whether it did the work is unknown. */
export class ThreadDied extends Data.TaggedError("ThreadDied")<{ readonly cause: unknown }> {
  override get message() {
    return `the thread died: ${String(this.cause)}`
  }
}

interface Question<Q> {
  readonly id: number
  readonly question: Q
}

/** The message from the thread. `fault`: it could not answer this question, but can answer others. */
type Answer<A> =
  | { readonly id: number; readonly type: "answer"; readonly answer: A }
  | { readonly id: number; readonly type: "fault"; readonly fault: unknown }

type Outcome<A> = Effect.Effect<A, ThreadDied>

/**
 * A thread that answers one question after the other. The caller bounds how many wait.
 *
 * The thread starts with the first question and does not keep the process alive. When it dies, its open questions fail
 * with `ThreadDied`, and the next question starts a new thread; a caller may repeat a failed question at once. A fault
 * in the answer to one question is a defect of that question alone.
 */
interface AskedThread<Q, A> {
  /** The buffers in `moved` belong to the thread from now on. An interrupted caller gets no answer. */
  readonly ask: (question: Q, moved?: ReadonlyArray<ArrayBuffer>) => Outcome<A>
  /** Calls `settle` with the outcome, for a caller that passes one answer on to several. */
  readonly post: (question: Q, settle: (outcome: Outcome<A>) => void) => void
  readonly size: () => number
  /** Ends the thread with the same effect as its death. */
  readonly end: Effect.Effect<void>
}

export const make = <Q, A>(start: () => Thread): AskedThread<Q, A> => {
  const waiting = new Map<number, (outcome: Outcome<A>) => void>()
  let current: Thread | null = null
  let lastId = 0

  const settle = (id: number, outcome: Outcome<A>): void => {
    const told = waiting.get(id)
    waiting.delete(id)
    told?.(outcome)
  }

  const startThread = (): Thread => {
    const thread = start()
    thread.unref()
    let why: unknown = new Error("it ended")
    thread.on("message", (message) => {
      const heard = message as Answer<A>
      settle(heard.id, heard.type === "answer" ? Effect.succeed(heard.answer) : Effect.die(heard.fault))
    })
    thread.on("error", (error) => {
      why = error
    })
    thread.on("exit", () => {
      current = null
      const lost = [...waiting.keys()]
      for (const id of lost) settle(id, Effect.fail(new ThreadDied({ cause: why })))
    })
    return thread
  }

  const send = (question: Q, told: (outcome: Outcome<A>) => void, moved: ReadonlyArray<ArrayBuffer>): number => {
    const id = ++lastId
    waiting.set(id, told)
    current ??= startThread()
    current.postMessage({ id, question } satisfies Question<Q>, moved)
    return id
  }

  return {
    ask: (question, moved = []) =>
      Effect.callback<A, ThreadDied>((resume) => {
        const id = send(question, resume, moved)
        return Effect.sync(() => void waiting.delete(id))
      }),
    post: (question, told) => void send(question, told, []),
    size: () => waiting.size,
    end: Effect.promise(async () => void (await current?.terminate()))
  }
}

/** The part of `parentPort` of `node:worker_threads` that is used here. */
interface Port {
  readonly on: (event: "message", listener: (message: unknown) => void) => unknown
  readonly postMessage: (message: unknown, moved: ReadonlyArray<ArrayBuffer>) => void
}

/** Answers every question from the port. The buffers that `moves` names belong to the other thread from then on. */
export const serve = <A>(
  port: Port | null,
  answer: (question: never) => A | Promise<A>,
  moves: (answer: A) => ReadonlyArray<ArrayBuffer> = () => []
): void => {
  if (port === null) throw new Error("this is the program of a thread")
  const reply = (message: Answer<A>, moved: ReadonlyArray<ArrayBuffer> = []) => port.postMessage(message, moved)
  /** The chain keeps the answers in order, because an answer may take more than one turn of the event loop. */
  let last = Promise.resolve()
  const answerTo = async ({ id, question }: Question<never>): Promise<void> => {
    try {
      const answered = await answer(question)
      reply({ id, type: "answer", answer: answered }, moves(answered))
    } catch (fault) {
      reply({ id, type: "fault", fault })
    }
  }
  port.on("message", (message) => {
    last = last.then(() => answerTo(message as Question<never>))
  })
}
