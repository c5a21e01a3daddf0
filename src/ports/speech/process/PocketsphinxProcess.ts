import { execFile, spawn } from "node:child_process"
import { Deferred, Effect } from "effect"
import { type Engine, RecognitionFailed } from "../Recognition.ts"
import * as Pocketsphinx from "./Pocketsphinx.ts"
import * as SpeechCommand from "./SpeechCommand.ts"

const program = "pocketsphinx_continuous"
const model = "/usr/share/pocketsphinx/model/en-us"

/** Each track takes nearly a whole core; the engine is for tests and demonstrations. */
const places = 2
const longestLine = 64 * 1024
/** No secret of the service's environment is passed to it. */
const environment = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LANG: "C.UTF-8" }

/** `cat`, because it cannot read the socket that Node gives as its input; `stdbuf`, so that each line comes at once. */
const script = (command: string) => `cat | stdbuf -oL ${command} -infile /dev/stdin -time yes -logfn /dev/null`

/** Recognition by Debian's pocketsphinx, which only knows English; null when it is not installed. */
export const find = Effect.callback<Engine | null>((resume) => {
  const asked = ["-c", `command -v ${program} stdbuf && ls -d ${model}`]
  execFile("sh", asked, { env: environment, timeout: 5_000 }, (error) =>
    resume(Effect.succeed(error === null ? make(program) : null))
  )
})

/** Runs a process for each track. A shell runs `command` in place of pocketsphinx. */
const make = (command: string): Engine => ({
  name: "pocketsphinx",
  mostRate: 16_000,
  places,
  speaks: (language) => /^en(-|$)/i.test(language),
  recognize: Effect.fnUntraced(function* ({ rate, take }, give) {
    const ended = yield* Deferred.make<void, RecognitionFailed>()
    const fail = (): void => void Deferred.doneUnsafe(ended, Effect.fail(new RecognitionFailed({ reason: "failed" })))
    // The processes form a group, which is ended as a whole.
    const spawned = Effect.sync(() =>
      spawn("sh", ["-c", script(command)], { stdio: ["pipe", "pipe", "ignore"], detached: true, env: environment })
    )
    type Child = Effect.Success<typeof spawned>

    const listen = (child: Child): void => {
      const read = Pocketsphinx.reader()
      let rest = ""
      child.on("error", fail)
      // The process may end before it has read everything.
      child.stdin.on("error", () => undefined)
      child.stdout.on("data", (bytes: Buffer) => {
        const lines = (rest + bytes.toString("utf8")).split("\n")
        rest = lines.pop() ?? ""
        if (rest.length > longestLine) return fail()
        for (const line of lines) {
          const phrase = read(line)
          if (phrase !== null) give(phrase)
        }
      })
      child.on("close", (code) => {
        if (code === 0 && child.stdin.writableEnded) Deferred.doneUnsafe(ended, Effect.void)
        else fail()
      })
    }

    const write = ({ stdin }: Child, bytes: Uint8Array): Effect.Effect<void> =>
      Effect.callback<void>((resume) => {
        if (stdin.write(bytes)) return resume(Effect.void)
        stdin.once("drain", () => resume(Effect.void))
      })

    const speak = Effect.fnUntraced(function* (child: Child) {
      for (let samples = yield* take; samples !== null; samples = yield* take)
        yield* write(child, Pocketsphinx.sound(samples, rate === 8000 ? 8000 : 16_000))
      child.stdin.end()
      return yield* Effect.never
    })

    yield* Effect.acquireUseRelease(
      spawned,
      (child) =>
        Effect.suspend(() => {
          SpeechCommand.nice(child)
          listen(child)
          return Effect.raceFirst(Deferred.await(ended), speak(child))
        }),
      (child) =>
        Effect.sync(() => {
          if (child.exitCode === null && child.signalCode === null) SpeechCommand.end(child)
        })
    )
  })
})
