/**
 * `npm run crash`: the long form of the crash tests. Twenty kill -9 at random moments under 200 calls in flight, half
 * of them on SIPp (Debian `sip-tester`), on the embedded database; then as many with `DATABASE_URL`, on a Postgres that
 * outlives the service. The calls are recorded, streamed, transcribed, spoken to, transferred and bridged, and collect
 * digits (`test/crash/support/Scenes.ts`), ten conferences take place beside them (`Meetings.ts`), and tenants order
 * numbers and top up by card (`Errands.ts`). After each restart everything in `Invariants.ts` must hold: also that the
 * delivered events of each call and each conference are numbered 1, 2, 3 without a gap.
 *
 * Then two processes share a Postgres, and as many events happen to them: it restarts, a network is cut, one of the two
 * stops or dies. Nothing may end that could live.
 *
 * Then come faults that the process survives: answers to commits get lost, connections are silent, the disk is
 * full, Postgres restarts (`test/crash/support/Fault.ts`). Every answer must be true.
 *
 * Payments go through as many kills, with repeated requests, a processor that loses answers and events that are lost,
 * doubled and early (`test/crash/Payments.test.ts`), and through restarts of Postgres and lost answers to COMMIT
 * (`test/crash/PaymentOutage.test.ts`): the ledger must be what the processor has.
 *
 * Then the service ends in every way that there is while calls talk (`test/crash/support/end/WaysOut.ts`): by signals
 * to it and to all its processes at once, by an error that nothing catches, without a reader of its log. It must end
 * all calls with a BYE and bill them. At last it starts beside 20 busy loops, and every start must come up.
 *
 * Then the process stands still for ten seconds, or for longer than a peer may be silent, while calls talk, alone or
 * with its database, and its wall clock is set meanwhile (`test/crash/support/Pause.ts`). All calls must continue.
 *
 * In half of the rounds under load the wall clock of the service is set by two or five hours while calls talk.
 *
 * It tests the death of the process, not of the disk: bytes that the kernel has taken are there after a kill -9. A
 * power failure is up to Postgres and its fsync, and is not tried here.
 *
 * `CRASH_SEED` repeats the choices of a run (not its timing), `CRASH_ROUNDS` and `CRASH_CALLS` make it another size,
 * and `-- --only <name>` runs one part of it.
 *
 * Each part is a process of its own, and its last line has the seconds of processor that it cost. `CRASH_AT_ONCE` parts
 * run beside one another; absent: one. The starts beside busy loops come last and alone.
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { Effect, Exit, Redacted, Scope } from "effect"
import * as EmbeddedPostgres from "../src/runtime/store/embedded/EmbeddedPostgres.ts"
import * as OwnerFile from "../src/runtime/store/embedded/OwnerFile.ts"
import * as BusyMachine from "../test/crash/support/end/BusyMachine.ts"
import * as Fault from "../test/crash/support/Fault.ts"
import * as FaultRound from "../test/crash/support/FaultRound.ts"
import * as FaultStage from "../test/crash/support/FaultStage.ts"
import * as Pair from "../test/crash/support/Pair.ts"
import * as Pause from "../test/crash/support/Pause.ts"
import * as PairRound from "../test/crash/support/PairRound.ts"
import * as Round from "../test/crash/support/Round.ts"
import * as SipPeer from "../test/crash/support/peer/SipPeer.ts"
import * as Sipp from "../test/crash/support/peer/Sipp.ts"
import * as WaysOut from "../test/crash/support/end/WaysOut.ts"
import * as World from "../test/crash/support/World.ts"
import * as Netem from "../test/support/network/Netem.ts"

const setting = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise)
const seed = setting("CRASH_SEED", Math.floor(Math.random() * 1_000_000))
const rounds = setting("CRASH_ROUNDS", 20)
const calls = setting("CRASH_CALLS", 200)
const atOnce = setting("CRASH_AT_ONCE", 1)
const clockSteps = [-5, -2, 2, 5].map((hours) => hours * 3_600_000)
/** Violations that are printed of one round. */
const shown = 20

let passed = 0
let failed = 0

/** A Postgres of this script's, which a killed service leaves running. */
const withPostgres = async (folder: string, use: (url: string) => Promise<void>): Promise<void> => {
  const scope = Scope.makeUnsafe()
  try {
    const started = Effect.flatMap(OwnerFile.acquire(join(folder, "database")), (owned) =>
      EmbeddedPostgres.start(owned)
    )
    const { url } = await Effect.runPromise(Scope.provide(started, scope))
    await use(Redacted.value(url))
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const series = async (name: string, folder: string, databaseUrl: string | null): Promise<void> => {
  const random = Netem.random(seed)
  const sipp = await Sipp.start(folder)
  if (sipp === null) console.log("sipp is not installed: the SIP calls go to a peer of this script's own")
  const peer = sipp ?? (await SipPeer.start(Netem.random(seed + 1)))
  try {
    const world = await World.make({
      tenants: 4,
      random,
      awaitsLeases: true,
      sipPeerPort: peer.port,
      ...(databaseUrl === null ? {} : { databaseUrl })
    })
    try {
      for (let nth = 1; nth <= rounds; nth++) {
        const round = await Round.run(world, peer, {
          load: {
            calls,
            sipCalls: calls / 2,
            meetings: Math.ceil(calls / 20),
            refersSip: sipp === null,
            talkSecs: 8,
            rampMs: 2_000
          },
          random,
          name: `${nth}`,
          killAfterMs: 3_000 + random() * 5_000,
          // In half of them the wall clock was set by hours before.
          ...(random() < 0.5 ? { setWallClockMs: clockSteps[Math.floor(random() * clockSteps.length)] ?? 0 } : {}),
          // A quarter of the deaths is followed by another one while the next process recovers.
          ...(random() < 0.25 ? { killAgainAfterMs: random() * 3_000 } : {})
        })
        report(`${name}, kill ${nth} of ${rounds}`, round)
      }
    } finally {
      await world.close()
    }
  } finally {
    await peer.close()
  }
}

const report = (name: string, { inFlight, repeated, restartMs, violations }: Round.Round): void =>
  tell(
    `${name}: ${inFlight} calls in flight, served again after ${restartMs} ms, ${repeated} requests repeated`,
    violations
  )

const tell = (what: string, violations: ReadonlyArray<string>): void => {
  const well = violations.length === 0
  if (well) passed++
  else failed++
  console.log(`${well ? "ok  " : "FAIL"} ${what}`)
  for (const line of violations.slice(0, shown)) console.log(`       ${line}`)
  if (violations.length > shown) console.log(`       and ${violations.length - shown} more`)
}

/** Two processes on one Postgres, to which one thing after the other happens (src/runtime/README.md#two-processes). */
const twoProcesses = async (): Promise<void> => {
  const pair = await Pair.make()
  try {
    const { run } = PairRound.make(pair, Netem.random(seed))
    for (let nth = 1; nth <= rounds; nth++) {
      const { violations, what } = await run()
      tell(`two processes, ${nth} of ${rounds}: ${what}`, violations)
    }
  } finally {
    await pair.close()
  }
}

/** One fault after the other, each as often as the others. */
const faults = async (): Promise<void> => {
  const random = Netem.random(seed)
  const peer = await SipPeer.start(Netem.random(seed + 1))
  try {
    // Their states together are more than one statement may hold.
    const stage = await FaultStage.make({
      tenants: 4,
      sipPeerPort: peer.port,
      random,
      largeCalls: calls / 2,
      awaitsLeases: true
    })
    try {
      for (let nth = 1; nth <= rounds; nth++) {
        const fault = Fault.faults[(nth - 1 + seed) % Fault.faults.length]
        if (fault === undefined) throw new Error("there is no fault")
        const { abandoned, inFlight, readyMs, repeated, violations } = await FaultRound.run(stage, peer, fault, {
          load: { calls: calls / 2, sipCalls: calls / 4, talkSecs: 8, rampMs: 2_000 },
          name: `fault${nth}`,
          warmUpMs: 2_000,
          lastsMs: 2_000 + random() * 18_000
        })
        tell(
          `faults, ${nth} of ${rounds}: ${fault.name}, ${inFlight} calls in flight, ready again after ${readyMs} ms, ` +
            `${repeated} requests repeated, ${abandoned} not`,
          violations
        )
      }
    } finally {
      await stage.close()
    }
  } finally {
    await peer.close()
  }
}

/** Cards under the same: tests of their own, each of as many rounds. */
const payments = async (): Promise<void> => {
  const args = [
    "run",
    "--config",
    "test/vitest.config.ts",
    "test/crash/Payments.test.ts",
    "test/crash/PaymentOutage.test.ts"
  ]
  const env = { ...process.env, CRASH_SEED: `${seed}`, CRASH_ROUNDS: `${rounds}` }
  const { status } = spawnSync("vitest", args, { stdio: "inherit", env })
  tell(`payments, ${rounds} rounds of each kind`, status === 0 ? [] : ["see above"])
}

/** Every way in which the service can end while calls talk, one after the other. */
const waysOut = async (): Promise<void> => {
  const random = Netem.random(seed)
  const peer = await SipPeer.start(Netem.random(seed + 1))
  try {
    const world = await World.make({ tenants: 1, random, sipPeerPort: peer.port, logLevel: "Info", awaitsLeases: true })
    try {
      const ways = Object.values(WaysOut.ways)
      for (let nth = 1; nth <= rounds; nth++) {
        const way = ways[(nth - 1 + seed) % ways.length]
        if (way === undefined) throw new Error("there is no way out")
        tell(`ways out, ${nth} of ${rounds}: ${way.name}`, await WaysOut.run(world, peer, way, random))
      }
    } finally {
      await world.close()
    }
  } finally {
    await peer.close()
  }
}

/** The process is stopped and continues while calls talk; nothing may end. */
const pauses = async (): Promise<void> => {
  const random = Netem.random(seed)
  const peer = await SipPeer.start(Netem.random(seed + 1))
  try {
    const world = await World.make({ tenants: 1, random, sipPeerPort: peer.port, awaitsLeases: true })
    try {
      for (let nth = 1; nth <= rounds; nth++) {
        const paused = nth % 2 === 0 ? "all" : "process"
        const pausedMs = nth % 5 === 0 ? 70_000 : 10_000
        const setWallClockMs = random() < 0.5 ? (clockSteps[Math.floor(random() * clockSteps.length)] ?? 0) : 0
        const options = { paused, pausedMs, setWallClockMs, calls: Math.ceil(calls / 10), name: `${nth}` } as const
        const what = `${paused}, for ${pausedMs} ms, the clock ${setWallClockMs} ms off`
        tell(`pauses, ${nth} of ${rounds}: ${what}`, await Pause.run(world, peer, options))
      }
    } finally {
      await world.close()
    }
  } finally {
    await peer.close()
  }
}

/** Starts beside so many busy loops as make a load of 20; every start must come up. */
const busyStarts = async (): Promise<void> => {
  const world = await World.make({ tenants: 1, random: Netem.random(seed), lean: true })
  try {
    await world.service().kill("SIGKILL")
    const busy = BusyMachine.make(20)
    try {
      for (let nth = 1; nth <= rounds; nth++) {
        const signal = nth % 2 === 0 ? "SIGKILL" : "SIGTERM"
        const { startMs, violations } = await WaysOut.startOnce(world, signal)
        tell(`busy starts, ${nth} of ${rounds}: up after ${Math.round(startMs)} ms, then ${signal}`, violations)
      }
    } finally {
      busy.calm()
    }
  } finally {
    await world.close()
  }
}

const attempt = async (name: string, run: () => Promise<void>): Promise<void> => {
  try {
    await run()
  } catch (cause) {
    failed++
    console.log(`FAIL ${name} went no further: ${inspect(cause)}`)
  }
}

/** The parts that run at once; a part that makes the machine busy runs alone, after the others. */
interface Part {
  readonly name: string
  readonly title: string
  readonly run: (folder: string) => Promise<void>
  readonly isAlone?: true
}

const parts: ReadonlyArray<Part> = [
  { name: "embedded", title: "embedded database", run: (folder) => series("embedded database", folder, null) },
  { name: "pair", title: "two processes", run: twoProcesses },
  { name: "faults", title: "faults", run: faults },
  { name: "payments", title: "payments", run: payments },
  { name: "ways", title: "ways out", run: waysOut },
  { name: "pauses", title: "pauses", run: pauses },
  {
    name: "external",
    title: "DATABASE_URL",
    run: (folder) => withPostgres(folder, (url) => series("DATABASE_URL", folder, url))
  },
  { name: "busy", title: "busy starts", run: busyStarts, isAlone: true }
]

/** Seconds of processor of this process and of its children that have ended (proc(5), fields 14 to 17 of `stat`). */
const cpuSecs = (): number | null => {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /u, "")
      .split(" ")
      .slice(11, 15)
    // The unit is a hundredth of a second on every Linux.
    return fields.reduce((sum, ticks) => sum + Number(ticks), 0) / 100
  } catch {
    return null
  }
}

const runHere = async ({ run, title }: Part): Promise<void> => {
  const startedAt = performance.now()
  const folder = await mkdtemp(join(tmpdir(), "trunkline-crash-"))
  // As root the Postgres in it belongs to another user.
  await chmod(folder, 0o711)
  try {
    await attempt(title, () => run(folder))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  const secs = Math.round((performance.now() - startedAt) / 1000)
  const cpu = cpuSecs()
  console.log(`     ${title}: ${secs} s${cpu === null ? "" : `, ${Math.round(cpu)} s of processor`}`)
}

/** Runs a part in a process of its own, and prints what it printed when it has ended, so that no lines mix. */
const runApart = async ({ name }: Part): Promise<void> => {
  const child = spawn(process.execPath, [import.meta.filename, "--only", name], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, CRASH_SEED: `${seed}` }
  })
  let printed = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (atOnce === 1) process.stdout.write(text)
    printed += text
  })
  await once(child, "close")
  if (atOnce > 1) process.stdout.write(printed)
  const lines = printed.split("\n")
  passed += lines.filter((line) => line.startsWith("ok   ")).length
  const wrong = lines.filter((line) => line.startsWith("FAIL ")).length
  failed += wrong
  if (child.exitCode === 0 || wrong > 0) return
  failed++
  console.log(`FAIL ${name} ended with ${child.signalCode ?? child.exitCode}`)
}

const inTurns = async (some: ReadonlyArray<Part>): Promise<void> => {
  const waiting = some.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const part of waiting) await runApart(part)
    })
  )
}

const at = process.argv.indexOf("--only")
if (at === -1) {
  console.log(`crash tests, seed ${seed}: they test the death of the process, not of the disk`)
  await inTurns(parts.filter(({ isAlone }) => isAlone !== true))
  for (const part of parts) if (part.isAlone === true) await runApart(part)
  console.log(`${passed} passed, ${failed} failed`)
} else {
  const chosen = parts.find(({ name }) => name === process.argv[at + 1])
  if (chosen === undefined) {
    console.error(`crash: --only takes one of ${parts.map(({ name }) => name).join(", ")}`)
    process.exit(2)
  }
  if (process.env["CRASH_SEED"] === undefined) console.log(`seed ${seed}`)
  await runHere(chosen)
}
process.exit(failed === 0 ? 0 : 1)
