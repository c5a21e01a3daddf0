import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync, chmodSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Engine, SpeechFailed } from "../../../../src/ports/speech/Engine.ts"
import * as EspeakCommand from "../../../../src/ports/speech/process/EspeakCommand.ts"
import * as EspeakProcess from "../../../../src/ports/speech/process/EspeakProcess.ts"
import * as EspeakWasm from "../../../../src/ports/speech/process/EspeakWasm.ts"
import * as FliteCommand from "../../../../src/ports/speech/process/FliteCommand.ts"
import * as Ssml from "../../../../src/ports/speech/process/Ssml.ts"
import * as NpmStart from "../../../support/service/NpmStart.ts"

interface Heard {
  readonly seconds: number
  readonly samples: ReadonlyArray<number>
  /** The number of times that sound came. */
  readonly stretches: number
}

const say = (engine: Engine, text: string, voice: string, isSsml = false): Effect.Effect<Heard, SpeechFailed> =>
  Effect.suspend(() => {
    const samples: Array<number> = []
    let seconds = 0
    let stretches = 0
    return Effect.map(
      engine.speak({ text, voice, isSsml }, (spoken) => {
        for (const sample of spoken.samples) samples.push(sample)
        seconds += spoken.samples.length / spoken.rate
        if (spoken.samples.length > 0) stretches++
      }),
      () => ({ seconds, samples, stretches })
    )
  })

const level = ({ samples }: Heard): number =>
  20 * Math.log10(Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length) / 32_768)

/** The tests of an engine with SSML and many languages. */
const speaksWell = (make: Effect.Effect<Engine, never, Scope.Scope>) =>
  Effect.gen(function* () {
    const engine = yield* make
    const text = "Hello and welcome. Please press one for your balance, or two for a loan."
    const english = yield* say(engine, text, "en-us")
    expect(english.seconds).toBeGreaterThan(2.5)
    expect(english.seconds).toBeLessThan(8)
    expect(level(english)).toBeGreaterThan(-35)
    expect(english.stretches).toBeGreaterThan(3)
    const german = yield* say(engine, text, "de")
    expect(Math.abs(german.seconds - english.seconds)).toBeGreaterThan(0.05)
    expect((yield* say(engine, text, "en-us+f3")).samples).not.toEqual(english.samples)

    // Markup in a text is read aloud, and not obeyed.
    const plain = yield* say(engine, "one <break time='3s'/> two", "en-us")
    const pause = yield* say(engine, "<speak>one <break time='3s'/> two</speak>", "en-us", true)
    const none = yield* say(engine, "<speak>one two</speak>", "en-us", true)
    expect(plain.samples).not.toEqual(pause.samples)
    expect(pause.seconds - none.seconds).toBeGreaterThan(2)
    const rate = (percent: number) =>
      say(engine, `<speak><prosody rate="${percent}%">this is a test of the rate</prosody></speak>`, "en-us", true)
    expect((yield* rate(50)).seconds / (yield* rate(200)).seconds).toBeGreaterThan(1.8)
  }).pipe(Effect.scoped)

/** A program in place of an engine. */
const program = (lines: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "speech-"))
      const file = join(folder, "engine")
      writeFileSync(file, `#!/bin/sh\n${lines}\n`)
      chmodSync(file, 0o755)
      return { folder, file }
    }),
    ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

const groupOf = (pid: number): number =>
  Number(execFileSync("ps", ["-o", "pgid=", "-p", String(pid)], { encoding: "utf8" }))

const espeakTable = `if [ "$1" = --voices ]; then echo head; echo "5 en-us --/M English x"; exit 0; fi`

/** Whether a process, or a process of a group where the number is negative, is alive. */
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe("espeak of npm", () => {
  it.live(
    "speaks languages, SSML and text, and gives sound as it is made",
    () => speaksWell(EspeakWasm.make()),
    300_000
  )

  it.live(
    "goes on after an utterance that was stopped",
    () =>
      Effect.gen(function* () {
        const engine = yield* EspeakWasm.make()
        yield* say(engine, "Hello.", "en-us")
        const long = yield* Effect.forkChild(say(engine, "word ".repeat(400), "en-us", true))
        yield* Effect.sleep(100)
        yield* Fiber.interrupt(long)
        const next = yield* say(engine, "Hello.", "en-us")
        expect(next.seconds).toBeGreaterThan(0.2)
        expect(next.seconds).toBeLessThan(2)
      }).pipe(Effect.scoped),
    300_000
  )

  it.live(
    "leaves a long text at once when nobody wants it any more, in the same process",
    () =>
      Effect.gen(function* () {
        let died = 0
        const program = new URL("../../../../src/ports/speech/process/EspeakProgram.ts", import.meta.url)
        const speaker = EspeakProcess.make({ program, isEager: true, onDied: () => died++ })
        yield* Effect.addFinalizer(() => Effect.sync(speaker.close))
        const utterance = { voice: "en-us", isSsml: false }
        for (let time = 0; time < 3; time++) {
          const started = yield* Deferred.make<void>()
          const hour = { ...utterance, text: "This text lasts for about an hour. ".repeat(1_200) }
          const speaking = yield* Effect.forkChild(
            speaker.speak(hour, () => void Deferred.doneUnsafe(started, Effect.void))
          )
          yield* Deferred.await(started)
          yield* Fiber.interrupt(speaking)
          yield* speaker.speak({ ...utterance, text: "Hello." }, () => undefined)
        }
        expect(died).toBe(0)
      }).pipe(Effect.scoped),
    300_000
  )

  it.live(
    "speaks on after every signal that a supervisor may send to all processes of a service",
    () =>
      Effect.gen(function* () {
        let died = 0
        const program = new URL("../../../../src/ports/speech/process/EspeakProgram.ts", import.meta.url)
        const speaker = EspeakProcess.make({ program, isEager: true, onDied: () => died++ })
        yield* Effect.addFinalizer(() => Effect.sync(speaker.close))
        const utterance = { voice: "en-us", isSsml: false, text: "Hello." }
        yield* speaker.speak(utterance, () => undefined)
        const processes = yield* Effect.promise(() => NpmStart.family(process.pid))
        const [own, ...others] = processes.filter(({ command }) => command.includes("EspeakProgram"))
        expect(own?.command).toContain("--disable-sigusr1")
        expect(others).toEqual([])
        for (const signal of ["SIGUSR1", "SIGUSR2", "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) {
          if (own !== undefined) process.kill(own.pid, signal)
          const spoken = yield* Effect.exit(speaker.speak(utterance, () => undefined))
          expect([signal, Exit.isSuccess(spoken), died]).toEqual([signal, true, 0])
        }
      }).pipe(Effect.scoped),
    300_000
  )

  it.live(
    "gets no signal that is sent to the group of the service, also while it is loaded",
    () =>
      Effect.gen(function* () {
        const program = new URL("../../../../src/ports/speech/process/EspeakProgram.ts", import.meta.url)
        const family = Effect.promise(() => NpmStart.family(process.pid))
        // A process of an earlier test may be ending.
        const earlier = new Set((yield* family).map(({ pid }) => pid))
        const speaker = EspeakProcess.make({ program, isEager: true, onDied: () => undefined })
        yield* Effect.addFinalizer(() => Effect.sync(speaker.close))
        const own = (yield* family).filter(({ command, pid }) => command.includes("EspeakProgram") && !earlier.has(pid))
        expect(own).toHaveLength(1)
        expect(own.map(({ pid }) => groupOf(pid))).toEqual(own.map(({ pid }) => pid))
      }).pipe(Effect.scoped),
    300_000
  )

  it.live(
    "that dies, or writes garbage, fails what it was asked for and is started again",
    () =>
      Effect.gen(function* () {
        const garbage = new URL("./Garbage.process.ts", import.meta.url)
        const engine = yield* EspeakWasm.make({ program: garbage })
        for (const text of ["exit", "garbage", "exit"])
          expect(yield* Effect.flip(say(engine, text, "en-us"))).toMatchObject({ reason: "speech_failed" })
        expect(yield* say(engine, "speak", "en-us")).toMatchObject({ seconds: 0.1 })
      }).pipe(Effect.scoped),
    300_000
  )
})

describe("a program that has grown too large", () => {
  it.live(
    "ends after an utterance, and nothing is asked of it meanwhile",
    () =>
      Effect.gen(function* () {
        const engine = yield* EspeakWasm.make({ program: new URL("./Garbage.process.ts", import.meta.url) })
        for (let time = 0; time < 6; time++)
          expect(yield* say(engine, "speak and end", "en-us")).toMatchObject({ seconds: 0.1 })
      }).pipe(Effect.scoped),
    300_000
  )
})

describe("programs of this machine", () => {
  it.live(
    "espeak-ng speaks as npm's does, where it is installed",
    () =>
      Effect.gen(function* () {
        const engine = yield* EspeakCommand.find()
        if (engine !== null) yield* speaksWell(Effect.succeed(engine))
      }),
    300_000
  )

  it.live(
    "flite speaks, where it is installed",
    () =>
      Effect.gen(function* () {
        const engine = yield* FliteCommand.find()
        if (engine === null) return
        const heard = yield* say(engine, "-o /tmp/x. Hello and welcome.", "slt")
        expect(heard.seconds).toBeGreaterThan(1)
        expect(level(heard)).toBeGreaterThan(-35)
      }),
    300_000
  )

  it.live("that are not there are no engines", () =>
    Effect.gen(function* () {
      expect(yield* EspeakCommand.find("/nowhere/espeak-ng")).toBe(null)
      expect(yield* FliteCommand.find("/nowhere/flite")).toBe(null)
    })
  )

  it.live("get a text by their input, and never a shell", () =>
    Effect.gen(function* () {
      const { file, folder } = yield* program(`${espeakTable}\nprintf '%s' "$*" > "$0.args"; cat > "$0.text"; exit 3`)
      const engine = yield* EspeakCommand.find(file)
      if (engine === null) throw new Error("it is there")
      const text = `"; touch ${folder}/evil; $(touch ${folder}/evil) --stdout`
      expect(yield* Effect.flip(say(engine, text, "en-us"))).toMatchObject({ reason: "speech_failed" })
      expect(existsSync(`${folder}/evil`)).toBe(false)
    }).pipe(Effect.scoped)
  )

  it.live("get no signal that is sent to the group of the service", () =>
    Effect.gen(function* () {
      const { file } = yield* program(`${espeakTable}\nps -o pgid= -p $$ > "$0.group"; echo $$ > "$0.pid"; exit 3`)
      const engine = yield* EspeakCommand.find(file)
      if (engine === null) throw new Error("it is there")
      yield* Effect.flip(say(engine, "Hello", "en-us"))
      expect(Number(readFileSync(`${file}.group`, "utf8"))).toBe(Number(readFileSync(`${file}.pid`, "utf8")))
    }).pipe(Effect.scoped)
  )

  it.live("that end with an error, or write what is no sound, have failed; what hangs is killed", () =>
    Effect.gen(function* () {
      for (const lines of ["exit 1", "echo this is no sound at all, not in the least", "cat /dev/zero"]) {
        const { file } = yield* program(`${espeakTable}\necho $$ > "$0.pid"\n${lines}`)
        const engine = yield* EspeakCommand.find(file)
        if (engine === null) throw new Error("it is there")
        expect(yield* Effect.flip(say(engine, "Hello", "en-us"))).toMatchObject({ reason: "speech_failed" })
        const group = Number(readFileSync(`${file}.pid`, "utf8"))
        while (isAlive(-group)) yield* Effect.sleep(10)
      }
      const { file } = yield* program(`${espeakTable}\necho $$ > "$0.pid"; exec sleep 60`)
      const engine = yield* EspeakCommand.find(file)
      if (engine === null) throw new Error("it is there")
      const fiber = yield* Effect.forkChild(say(engine, "Hello", "en-us"))
      yield* Effect.sleep(200)
      yield* Fiber.interrupt(fiber)
      expect(Exit.hasInterrupts(yield* Fiber.await(fiber))).toBe(true)
    }).pipe(Effect.scoped)
  )
})

describe("SSML of a tenant", () => {
  /** Everything that is a tag to espeak: `<` and a letter or a mark. */
  const tagsOf = (ssml: string) => ssml.match(/<[^<>]*>?/g) ?? []

  it("opens no file of this machine", () => {
    for (const ssml of [
      `<audio src="/data/recordings/secret.wav"/>`,
      `< AUDIO src='/x'>`,
      `</audio>`,
      `<\u0001audio src="/x">`,
      `<au<audio>dio src="/x">`,
      `<audio src="/x"`,
      // When cut to eight bits, the first letter is an ASCII one.
      `<\u0161udio src="/data/recordings/secret.wav"/>`,
      `<p <\u0161udio src="/x">>`,
      `<p title=">" <audio src="/x">`,
      `<audio\u00a0src="/x"/>`,
      `<xml:audio src="/x"/>`,
      `<!--><audio src="/x"/>-->`,
      `<voice name="en+../../../data/x">`,
      `<voice name='/data/x'/>`,
      `<voice\nname="..\\x">`
    ])
      expect(
        tagsOf(Ssml.harmless(`<speak>one ${ssml} two</speak>`)).filter((tag) => !/^<\/?(speak|p)>$/.test(tag))
      ).toEqual([])
  })

  it("keeps what espeak understands", () => {
    for (const ssml of [
      "<speak>audio <break/></speak>",
      `<speak version="1.1" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang='en-US'><p>One.</p></speak>`,
      `<speak><prosody rate="+10%" pitch = 'high'>one</prosody><break time="200ms" /></speak>`,
      `<SPEAK><voice name="en-gb+f3"/><say-as interpret-as="date" format="d/m/y">1/2/03</say-as></SPEAK>`
    ])
      expect(Ssml.harmless(ssml)).toBe(ssml)
    expect(Ssml.harmless("<speak>3 < 4 <em>is</em> so</speak>")).toBe("<speak>3   4  is  so</speak>")
  })
})
