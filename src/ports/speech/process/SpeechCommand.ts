import { type ChildProcess, spawn } from "node:child_process"
import { availableParallelism, setPriority } from "node:os"
import { Effect, Result } from "effect"
import * as PcmStream from "../../../protocol/audio/file/PcmStream.ts"
import { type Give, SpeechFailed } from "../Engine.ts"

/** Programs that speak at once. Even a tenant that wants all of these places leaves one for the others. */
export const places = Math.max(3, availableParallelism())

/** Lower than the priority of the media thread and of this one. */
const niceness = 5

/** Lowers the priority of a process that may have ended already, on a system that may forbid it. */
export const nice = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) setPriority(pid, niceness)
  } catch {
    // The program then works at its normal priority.
  }
}

/**
 * Kills a program, which leads a group of its own, with what it has started itself, which would otherwise write to its
 * output for ever.
 */
export const end = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL")
  } catch {
    // The group has ended already.
  }
}

/**
 * Runs a program that writes a WAVE file of speech to its standard output, and gives its sound as it arrives.
 *
 * There is no shell: `args` reach the program unchanged, and `input` through its standard input. An interruption kills
 * it. Fails with `speech_failed` when the program cannot be started, ends with an error, or writes something else.
 */
export const speak = (
  file: string,
  args: ReadonlyArray<string>,
  input: string,
  give: Give
): Effect.Effect<void, SpeechFailed> =>
  Effect.callback<void, SpeechFailed>((resume) => {
    const failed = Effect.fail(new SpeechFailed({ reason: "speech_failed" }))
    const stream = PcmStream.make({ type: "wav" })
    const child = spawn(file, args, { stdio: ["pipe", "pipe", "ignore"], ...surroundings })
    nice(child)
    const kill = (): void => end(child)
    const fail = (): void => {
      kill()
      resume(failed)
    }
    child.on("error", fail)
    // The program may end before it has read everything.
    child.stdin.on("error", () => undefined)
    child.stdout.on("error", fail)
    child.stdout.on("data", (bytes: Buffer) => {
      const read = stream.push(bytes)
      if (Result.isFailure(read)) return fail()
      give(read.success)
    })
    child.on("close", (code) => resume(code === 0 ? Effect.void : failed))
    child.stdin.end(input)
    return Effect.sync(kill)
  })

/** The standard output of a program, within `timeoutMs`; null when it cannot be run or fails. */
export const output = (file: string, args: ReadonlyArray<string>, timeoutMs: number): Effect.Effect<string | null> =>
  Effect.callback<string | null>((resume) => {
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "ignore"], ...surroundings })
    const kill = (): void => end(child)
    const timer = setTimeout(kill, timeoutMs)
    const done = (output: string | null): void => {
      clearTimeout(timer)
      resume(Effect.succeed(output))
    }
    let text = ""
    child.on("error", () => done(null))
    child.stdout.on("data", (bytes: Buffer) => {
      text += bytes.toString("utf8")
      if (text.length > mostOutput) kill()
    })
    child.on("close", (code) => done(code === 0 ? text : null))
    return Effect.sync(kill)
  })

const mostOutput = 1024 * 1024

/**
 * No secret of the service's environment is passed to the programs. They form a group of their own, because signals to
 * that of the service would end them while live calls are still spoken to. When the service is gone, their output has
 * no reader, which ends them.
 */
const surroundings = { env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LANG: "C.UTF-8" }, detached: true }
