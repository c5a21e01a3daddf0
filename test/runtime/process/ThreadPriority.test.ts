import { getPriority } from "node:os"
import { Worker } from "node:worker_threads"
import { describe, expect, it } from "@effect/vitest"
import * as ThreadPriority from "../../../src/runtime/process/ThreadPriority.ts"

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
    const worker = new Worker(new URL("../../domain/PriorityThread.ts", import.meta.url))
    const heard = new Promise<{ readonly told: string; readonly niceness: number }>((resolve, reject) => {
      worker.once("message", resolve)
      worker.once("error", reject)
    })
    const { niceness, told } = await heard
    expect(niceness).toBe(told === `niceness ${ThreadPriority.niceness}` ? ThreadPriority.niceness : before)
    expect(getPriority(process.pid)).toBe(before)
  })
})
