import { execFile, spawn } from "node:child_process"
import { setPriority } from "node:os"
import { Deferred, Effect } from "effect"
import { type Engine, RecognitionFailed } from "../Recognition.ts"
import * as Pocketsphinx from "./Pocketsphinx.ts"

const program = "pocketsphinx_continuous"
const model = "/usr/share/pocketsphinx/model/en-us"

/** A core each, or nearly: for tests and demonstrations. */
const places = 2
const longestLine = 64 * 1024
/** Behind the media thread, and behind this one. */
const niceness = 5

/** No secret of the service's environment is handed to it. */
const environment = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LANG: "C.UTF-8" }

/** `cat`, because it cannot read the socket that Node gives as its input; `stdbuf`, so that each line comes at once. */
const script = (command: string) => `cat | stdbuf -oL ${command} -infile /dev/stdin -time yes -logfn /dev/null`

/** Recognition by Debian's pocketsphinx, which knows English only; null: it is not installed. */
export const find = Effect.callback<Engine | null>((resume) => {
  const asked = ["-c", `command -v ${program} stdbuf && ls -d ${model}`]
  execFile("sh", asked, { env: environment, timeout: 5_000 }, (error) =>
    resume(Effect.succeed(error === null ? make(program) : null))
  )
})

/** A process for each track. `command`: what a shell runs in place of pocketsphinx. */
export const make = (command: string): Engine => ({
  name: "pocketsphinx",
  mostRate: 16_000,
  places,
  speaks: (language) => /^en(-|$)/i.test(language),
  recognize: Effect.fnUntraced(function* ({ rate, take }, give) {
    const ended = yield* Deferred.make<void, RecognitionFailed>()
    const fail = (): void => void Deferred.doneUnsafe(ended, Effect.fail(new RecognitionFailed({ reason: "failed" })))
    // A group of its own, which is ended as a whole.
    const spawned = Effect.sync(() =>
      spawn("sh", ["-c", script(command)], { stdio: ["pipe", "pipe", "ignore"], detached: true, env: environment })
    )
    type Child = Effect.Success<typeof spawned>

    const listen = (child: Child): void => {
      const read = Pocketsphinx.reader()
      let rest = ""
      child.on("error", fail)
      // It may have ended before it read all.
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
          nice(child.pid)
          listen(child)
          return Effect.raceFirst(Deferred.await(ended), speak(child))
        }),
      ({ exitCode, pid, signalCode }) =>
        Effect.sync(() => {
          if (pid !== undefined && exitCode === null && signalCode === null) end(pid)
        })
    )
  })
})

/** Of a process that may have ended already, or on a system that does not let us. */
const nice = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) setPriority(pid, niceness)
  } catch {
    // It recognizes all the same.
  }
}

const end = (group: number): void => {
  try {
    process.kill(-group, "SIGKILL")
  } catch {
    // It has ended.
  }
}
