import { setTimeout as delay } from "node:timers/promises"
import * as Patience from "../Patience.ts"

export interface Answer {
  readonly status: number
  readonly body: string
}

/** A request that must have exactly one effect, whatever crashes. */
interface Command {
  readonly apiKey: string
  /** Its Idempotency-Key. */
  readonly key: string
  readonly path: string
  readonly body: object
  /** Its trace in the database: there once when the command is accepted, and never when it is refused (see `Marks`). */
  readonly mark: string
  /** The first answer that decides it, or the 503 that was its last; null: its outcome is not known yet. */
  answer: Answer | null
}

/** A tenant's client that remembers its requests. */
export interface Client {
  /** Every command ever sent, in order. */
  readonly commands: ReadonlyArray<Command>
  /** Sends it once; null when no answer came. */
  readonly command: (command: Omit<Command, "answer">) => Promise<Answer | null>
  /** Sends each command that has no answer again, with its key, until it has one; gives how many there were. */
  readonly repeatUnanswered: () => Promise<number>
  /** Sends decided commands again; gives a line for each that is answered otherwise than the first time. */
  readonly repeatAnswered: (some: ReadonlyArray<Command>) => Promise<ReadonlyArray<string>>
}

/** How long an answer may take on a quiet machine. On a busy one a sign-up, which hashes, takes longer by its share. */
const answerMs = 15_000
const decidedMs = 30_000

/** One request; null when the service was not there, died, or did not answer in time. */
export const request = async (
  url: string,
  options: {
    readonly method?: "GET" | "POST" | "DELETE"
    readonly bearer?: string
    readonly key?: string
    readonly body?: object
  }
): Promise<Answer | null> => {
  try {
    const response = await fetch(url, {
      method: options.method ?? "POST",
      signal: AbortSignal.timeout(Math.round(answerMs / Patience.share())),
      headers: {
        accept: "application/json",
        ...(options.bearer === undefined ? {} : { authorization: `Bearer ${options.bearer}` }),
        ...(options.key === undefined ? {} : { "idempotency-key": options.key }),
        ...(options.body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) })
    })
    return { status: response.status, body: await response.text() }
  } catch {
    return null
  }
}

/** 5xx, and the 409 of a key whose first request still runs, decide nothing: the same key may ask again. */
const decides = ({ body, status }: Answer): boolean =>
  status < 500 && !(status === 409 && body.includes("is still running"))

/** A request that `abandons` chooses when it got 503 is never repeated: it must have no effect. */
export const make = (baseUrl: string, abandons: () => boolean = () => false): Client => {
  const commands: Array<Command> = []

  const ask = (command: Omit<Command, "answer">): Promise<Answer | null> =>
    request(`${baseUrl}${command.path}`, { bearer: command.apiKey, key: command.key, body: command.body })

  const decided = (answer: Answer | null): Answer | null => (answer !== null && decides(answer) ? answer : null)

  const untilDecided = async (command: Command): Promise<Answer> => {
    let last: Answer | null = null
    for (const patience = Patience.make(decidedMs); !patience.isOver(); await delay(100)) {
      last = await ask(command)
      const answer = decided(last)
      if (answer !== null) return answer
    }
    throw new Error(
      `${command.path} with key ${command.key} got no answer within ${decidedMs / 1000} s of repeating it, but at last ` +
        (last === null ? "none" : `${last.status} ${last.body}`)
    )
  }

  return {
    commands,
    command: async (fields) => {
      const command: Command = { ...fields, answer: null }
      commands.push(command)
      const answer = await ask(command)
      command.answer = answer?.status === 503 && abandons() ? answer : decided(answer)
      return command.answer
    },
    repeatUnanswered: async () => {
      const unanswered = commands.filter(({ answer }) => answer === null)
      await eachOf(unanswered, async (command) => {
        command.answer = await untilDecided(command)
      })
      return unanswered.length
    },
    repeatAnswered: async (some) => {
      const lines: Array<string> = []
      const answered = some.filter(({ answer }) => answer !== null && decides(answer))
      await eachOf(answered, async (command) => {
        const again = await untilDecided(command)
        const first = command.answer
        if (first === null || (again.status === first.status && again.body === first.body)) return
        lines.push(
          `${command.path} with key ${command.key} was answered by ${first.status} ${first.body}, ` +
            `and when it was repeated by ${again.status} ${again.body}`
        )
      })
      return lines
    }
  }
}

const concurrency = 16

const eachOf = async <A>(items: ReadonlyArray<A>, run: (item: A) => Promise<void>): Promise<void> => {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const item of rest) await run(item)
    })
  )
}
