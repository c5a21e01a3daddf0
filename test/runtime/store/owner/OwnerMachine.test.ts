import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as OwnerMachine from "../../../../src/runtime/store/owner/OwnerMachine.ts"
import * as Netem from "../../../support/network/Netem.ts"

/**
 * Processes over one database, with everything that can happen to them between two statements:
 * src/runtime/README.md#two-processes. Each statement takes effect at one moment and is answered at another one, or
 * never.
 */
const heartbeatMs = 2_000
/** A statement without an answer is given up after this time. */
const answerMs = 5_000
const reconnectMs = 250

interface Process {
  readonly name: string
  readonly options: OwnerMachine.Options
  state: OwnerMachine.State
  /** Null: the next act connects first. */
  session: symbol | null
  /** When the process's next act is done. */
  dueAt: number
  isCut: boolean
  isDead: boolean
  /** The epochs that the process raised. */
  readonly raised: Array<number>
}

class World {
  now = 0
  row = { epoch: 0, beat: 0, endedEpoch: -1, holder: "" }
  lock: symbol | null = null
  isUp = true
  readonly sessions = new Set<symbol>()
  readonly processes: Array<Process> = []

  /** `holder`: the data directory; by default each process has another one. */
  start(name: string, holder = name): Process {
    const process: Process = {
      name,
      options: { partitions: [0], holder, heartbeatMs },
      state: OwnerMachine.initial,
      session: null,
      dueAt: this.now,
      isCut: false,
      isDead: false,
      raised: []
    }
    this.processes.push(process)
    return process
  }

  owners(): ReadonlyArray<Process> {
    return this.processes.filter(
      ({ isDead, state }) => !isDead && state.type === "owning" && state.epochs.get(0) === this.row.epoch
    )
  }

  drop(session: symbol | null): void {
    if (session === null) return
    this.sessions.delete(session)
    if (this.lock === session) this.lock = null
  }

  /** Breaks the connection of the process, which notices that with its next statement. */
  disconnect(process: Process): void {
    this.drop(process.session)
  }

  kill(process: Process): void {
    this.disconnect(process)
    process.isDead = true
  }

  /** Stops the process in order; its last heartbeat records that. */
  end(process: Process): void {
    const { state } = process
    if (state.type === "owning" && state.epochs.get(0) === this.row.epoch && this.reaches(process))
      this.row = { ...this.row, beat: this.row.beat + 1, endedEpoch: this.row.epoch }
    this.kill(process)
  }

  restartDatabase(): void {
    this.isUp = false
    for (const process of this.processes) this.disconnect(process)
  }

  reaches({ isCut, session }: Process): boolean {
    return this.isUp && !isCut && (session === null || this.sessions.has(session))
  }

  /** Does one act of this process at once. */
  act(process: Process, answers = true): void {
    const next = OwnerMachine.act(process.options, process.state)
    if (process.isDead || next === null) return
    const input = this.reaches(process) ? this.statement(process, next.type) : null
    if (input === null || !answers) {
      const waitMs = this.reaches(process) ? answerMs : reconnectMs
      // The server may notice only later that this connection is gone.
      process.session = null
      this.feed(process, { type: "Disconnected" }, waitMs)
    } else this.feed(process, input, 0)
  }

  private feed(process: Process, input: OwnerMachine.Input, waitMs: number): void {
    process.state = OwnerMachine.step(process.options, process.state, input, this.now)
    const next = OwnerMachine.act(process.options, process.state)
    process.dueAt = this.now + waitMs + (next?.afterMs ?? 0)
  }

  private statement(process: Process, type: OwnerMachine.Act["type"]): OwnerMachine.Input {
    const session = (process.session ??= Symbol(process.name))
    this.sessions.add(session)
    const { state } = process
    switch (type) {
      case "look":
        return {
          type: "Looked",
          signs: new Map([
            [
              0,
              {
                epoch: this.row.epoch,
                beat: String(this.row.beat),
                holder: this.row.holder,
                hasEnded: this.row.endedEpoch === this.row.epoch
              }
            ]
          ])
        }
      case "lock":
        if (this.lock === null) this.lock = session
        return { type: "Locked", isLocked: this.lock === session }
      case "raise": {
        if (state.type !== "raising") throw new Error("raises without a lock")
        const sign = OwnerMachine.signsOf(state).get(0)
        if (sign?.epoch !== this.row.epoch || sign.beat !== String(this.row.beat)) {
          this.lock = null
          return { type: "Raised", epochs: null }
        }
        this.row = {
          ...this.row,
          epoch: this.row.epoch + 1,
          beat: this.row.beat + 1,
          holder: process.options.holder ?? ""
        }
        process.raised.push(this.row.epoch)
        return { type: "Raised", epochs: new Map([[0, this.row.epoch]]) }
      }
      case "beat": {
        const isOurs = state.type === "owning" && state.epochs.get(0) === this.row.epoch
        if (isOurs) this.row = { ...this.row, beat: this.row.beat + 1 }
        return { type: "Beaten", held: isOurs ? [0] : [] }
      }
    }
  }

  /** Lets this time pass; processes do the acts that are due, in any order. */
  run(ms: number, random: () => number = () => 0, answers: () => boolean = () => true): void {
    for (const end = this.now + ms; this.now < end;) {
      this.now += 50
      const due = this.processes.filter(({ dueAt, isDead }) => !isDead && dueAt <= this.now)
      while (due.length > 0) {
        const [process] = due.splice(Math.floor(random() * due.length), 1)
        if (process !== undefined) this.act(process, answers())
      }
    }
  }
}

const isHealthy = (world: World, process: Process) => world.owners().includes(process)

/** The longest time until a standby that reaches the database has taken over from a dead owner. */
const takeoverMs = OwnerMachine.silentMs + 3 * OwnerMachine.pollMs + 500

describe("The owner and those that stand by, src/runtime/README.md#two-processes", () => {
  it("an owner whose connection broke has the lock again before anybody else may want it", () => {
    const world = new World()
    const owner = world.start("owner")
    world.run(1_000)
    const standby = world.start("standby")
    world.run(60_000)
    world.disconnect(owner)
    world.run(60_000)
    expect(isHealthy(world, owner)).toBe(true)
    expect(standby.state.type).toBe("watching")
    expect(world.lock).toBe(owner.session)
  })

  it("a standby takes over within the stated time when the owner dies, and at once when it ends", () => {
    for (const [how, withinMs] of [
      ["kill", takeoverMs],
      ["end", 3 * OwnerMachine.pollMs]
    ] as const) {
      const world = new World()
      const owner = world.start("owner")
      world.run(5_000)
      const standby = world.start("standby")
      world.run(5_000)
      world[how](owner)
      world.run(withinMs)
      expect(isHealthy(world, standby), how).toBe(true)
    }
  })

  it("the next process on the same data directory waits for nothing", () => {
    const world = new World()
    world.kill(world.start("first", "here"))
    const owner = world.start("second", "here")
    world.run(5_000)
    world.kill(owner)
    const next = world.start("third", "here")
    world.run(200)
    expect(isHealthy(world, next)).toBe(true)
  })

  it("an owner that is silent, but holds its lock, stays", () => {
    const world = new World()
    const owner = world.start("owner")
    world.run(5_000)
    world.start("standby")
    owner.dueAt = Number.POSITIVE_INFINITY
    world.run(120_000)
    expect(isHealthy(world, owner)).toBe(true)
  })

  it("an owner that speaks between the lock and the raise stays", () => {
    const world = new World()
    const owner = world.start("owner")
    world.run(5_000)
    const standby = world.start("standby")
    world.disconnect(owner)
    owner.dueAt = Number.POSITIVE_INFINITY
    while (standby.state.type !== "raising") {
      world.now += 50
      if (standby.dueAt <= world.now) world.act(standby)
    }
    // The owner notices that its connection broke, and then writes a heartbeat.
    world.act(owner)
    world.act(owner)
    world.act(standby)
    expect(isHealthy(world, owner)).toBe(true)
    expect(standby.state.type).toBe("watching")
    owner.dueAt = world.now
    world.run(30_000)
    expect(isHealthy(world, owner)).toBe(true)
  })

  it("a silent time in which the database was away counts for nothing", () => {
    const world = new World()
    const owner = world.start("owner")
    world.run(5_000)
    const standby = world.start("standby")
    world.run(14_000)
    world.restartDatabase()
    world.run(60_000)
    world.isUp = true
    // The standby connects first.
    owner.dueAt = world.now + 10_000
    world.run(60_000)
    expect(isHealthy(world, owner)).toBe(true)
    expect(standby.state.type).toBe("watching")
  })

  const seeds = { seed: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_000_000_000 })) }

  it.prop(
    "whatever breaks for less than a silence, no owner that lives is replaced",
    seeds,
    ({ seed }) => {
      const random = Netem.random(seed)
      const world = new World()
      const owner = world.start("owner")
      world.run(1_000, random)
      world.start("one")
      world.start("two")
      for (let round = 0; round < 30; round++) {
        const victim = world.processes[Math.floor(random() * 3)] ?? owner
        const awayMs = random() * (OwnerMachine.silentMs - answerMs - heartbeatMs - 2 * OwnerMachine.pollMs)
        const what = random()
        if (what < 0.3) world.disconnect(victim)
        else if (what < 0.6) {
          victim.isCut = true
          world.disconnect(victim)
          world.run(awayMs, random)
          victim.isCut = false
        } else if (what < 0.8) {
          world.restartDatabase()
          world.run(random() * 40_000, random)
          world.isUp = true
        } else world.run(awayMs, random, () => random() < 0.97)
        world.run(heartbeatMs + answerMs + random() * 20_000, random)
        expect(world.owners()).toStrictEqual([owner])
      }
    },
    { arbitrary: { runs: 60 } }
  )

  it.prop(
    "whatever breaks, an epoch has one owner, and there is one again within the stated time",
    seeds,
    ({ seed }) => {
      const random = Netem.random(seed)
      const world = new World()
      for (const name of ["one", "two", "three"]) world.start(name)
      for (let round = 0; round < 40; round++) {
        const victim = world.processes[Math.floor(random() * world.processes.length)]
        const what = random()
        if (victim !== undefined) {
          if (what < 0.2) victim.isCut = !victim.isCut
          else if (what < 0.35) world.disconnect(victim)
          else if (what < 0.45) {
            // The server keeps the session, and its lock, for a while.
            world.act(victim, false)
          } else if (what < 0.55) {
            world[random() < 0.5 ? "kill" : "end"](victim)
            world.start(`${victim.name}'`, random() < 0.5 ? victim.name : `${victim.name}'`)
          } else if (what < 0.65) world.isUp = !world.isUp
        }
        world.run(random() * 20_000, random, () => random() < 0.95)
        expect(world.owners().length).toBeLessThanOrEqual(1)
        const all = world.processes.flatMap(({ raised }) => raised)
        expect(new Set(all).size).toBe(all.length)
      }
      world.isUp = true
      for (const process of world.processes) process.isCut = false
      // The server has noticed by now which connections are gone (tcp_keepalives).
      if (!world.processes.some(({ session }) => session === world.lock)) world.drop(world.lock)
      for (const process of world.processes.filter(({ state }) => state.type === "lost")) world.kill(process)
      world.start("late")
      world.run(takeoverMs + answerMs, random)
      expect(world.owners()).toHaveLength(1)
    },
    { arbitrary: { runs: 60 } }
  )
})
