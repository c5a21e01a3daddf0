import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { getPriority } from "node:os"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import { describe, expect, it } from "@effect/vitest"
import * as ThreadPriority from "../../../src/runtime/process/ThreadPriority.ts"

/** A system whose process 12 is in session `session`, and the files that were written. */
const system = (session: number, fails?: string) => {
  const written: Array<readonly [string, string]> = []
  const write = (path: string, text: string) => {
    if (fails !== undefined) throw new Error(fails)
    written.push([path, text])
  }
  const read = () => `12 (a (very) odd) S) name) S 1 12 ${session} 0 -1`
  return { written, system: { platform: "linux", pid: 12, read, write } as const }
}

describe("The priority of the process's group", () => {
  it("is raised by the leader of a session", () => {
    const { system: leader, written } = system(12)
    expect(ThreadPriority.raiseGroup(leader)).toBe("niceness -14")
    expect(written).toEqual([["/proc/self/autogroup", "-14"]])
  })

  it("is left alone in the session of another process, and where the system refuses", () => {
    const { system: follower, written } = system(7)
    expect(ThreadPriority.raiseGroup(follower)).toBe("the session of another process")
    expect(ThreadPriority.raiseGroup({ ...follower, platform: "darwin" })).toBe("there are no groups")
    expect(written).toEqual([])
    expect(ThreadPriority.raiseGroup(system(12, "EACCES").system)).toBe("EACCES")
  })

  it.skipIf(!existsSync("/proc/self/autogroup"))("is what it says, in a real session of its own", async () => {
    const program = fileURLToPath(new URL("GroupPriority.process.ts", import.meta.url))
    const child = spawn(process.execPath, [program], { detached: true, stdio: ["ignore", "pipe", "inherit"] })
    const [told, group] = (await text(child.stdout)).trim().split("\n")
    expect(group).toMatch(told === `niceness ${ThreadPriority.niceness}` ? / nice -14$/ : / nice 0$/)
  })
})

describe("The priority of the media thread", () => {
  it("stays as it is without the right to another", () => {
    const setPriority = () => {
      throw new Error("permission denied")
    }
    expect(ThreadPriority.raise({ platform: "linux", setPriority })).toBe("as the process: permission denied")
  })

  it("is left alone where it would be that of the whole process", () => {
    const set: Array<number> = []
    const setPriority = (id: number) => void set.push(id)
    expect(ThreadPriority.raise({ platform: "darwin", setPriority })).toBe("as the process, on darwin")
    expect(set).toEqual([])
  })

  it("is what it says, in a real thread, and the process keeps its own", async () => {
    const before = getPriority(process.pid)
    const worker = new Worker(new URL("./Priority.thread.ts", import.meta.url))
    const heard = new Promise<{ readonly told: string; readonly niceness: number }>((resolve, reject) => {
      worker.once("message", resolve)
      worker.once("error", reject)
    })
    const { niceness, told } = await heard
    expect(niceness).toBe(told === `niceness ${ThreadPriority.niceness}` ? ThreadPriority.niceness : before)
    expect(getPriority(process.pid)).toBe(before)
  })
})
