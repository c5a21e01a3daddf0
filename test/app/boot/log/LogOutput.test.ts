import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { copyFile, mkdtemp, readFile, rename, rm, truncate } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Writable } from "node:stream"
import * as LogOutput from "../../../../src/app/boot/log/LogOutput.ts"

/** A stream whose reader can go away, come back, or stop reading. */
const reader = () => {
  let mode: "reads" | "gone" | "stuck" = "reads"
  const read: Array<string> = []
  const stuck: Array<() => void> = []
  const stream = new Writable({
    autoDestroy: false,
    write: (chunk: Buffer, _encoding, done) => {
      if (mode === "stuck") return void stuck.push(() => done())
      if (mode === "gone") return done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }))
      read.push(chunk.toString())
      done()
    }
  })
  // Like the standard outputs of a process, which a failed write does not close.
  stream._destroy = (_error, done) => done(null)
  return { stream, read, stuck, be: (next: typeof mode) => void (mode = next) }
}

describe("the output of the log to a stream", () => {
  it("writes lines, each ended by a newline", async () => {
    const { read, stream } = reader()
    const output = LogOutput.toStream(stream)
    output.write(["one", "two"])
    await output.flushed()
    expect(read.join("")).toBe("one\ntwo\n")
    expect(output.lost()).toBe(0)
    expect(output.works()).toBe(true)
  })

  it("loses and counts the lines of a reader that has gone, and does not throw", async () => {
    const { be, stream } = reader()
    const output = LogOutput.toStream(stream)
    be("gone")
    output.write(["one", "two"])
    await output.flushed()
    expect(output.lost()).toBe(2)
    expect(output.works()).toBe(false)
  })

  it("loses and counts what a reader that stands still leaves behind a bound", async () => {
    const { be, stream, stuck } = reader()
    const output = LogOutput.toStream(stream, 100)
    be("stuck")
    const line = "x".repeat(39)
    for (let nth = 0; nth < 5; nth++) output.write([line])
    expect(output.lost()).toBe(3)
    expect(output.works()).toBe(false)
    be("reads")
    for (const go of stuck) go()
    await output.flushed()
    expect(output.works()).toBe(true)
    expect(output.lost()).toBe(3)
  })
})

describe("the output of the log to a file", () => {
  const inFolder = (use: (path: string) => Promise<void>) => async () => {
    const folder = await mkdtemp(join(tmpdir(), "trunkline-log-"))
    try {
      await use(join(folder, "trunkline.log"))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  const opened = (path: string, limit?: number) => Effect.runPromise(LogOutput.toFile(path, limit))
  const write = async (output: LogOutput.LogOutput, ...lines: ReadonlyArray<string>) => {
    output.write(lines)
    await output.flushed()
  }

  it(
    "goes on in a new file after a rotation that moves the old one",
    inFolder(async (path) => {
      const output = await opened(path)
      await write(output, "before")
      await rename(path, `${path}.1`)
      await write(output, "after")
      await write(output, "later")
      expect(await readFile(`${path}.1`, "utf8")).toBe("before\n")
      expect(await readFile(path, "utf8")).toBe("after\nlater\n")
    })
  )

  it(
    "goes on at the start of the file after a rotation that copies and truncates it",
    inFolder(async (path) => {
      const output = await opened(path)
      await write(output, "before")
      await copyFile(path, `${path}.1`)
      await truncate(path)
      await write(output, "after")
      expect(await readFile(`${path}.1`, "utf8")).toBe("before\n")
      expect(await readFile(path, "utf8")).toBe("after\n")
      expect(output.lost()).toBe(0)
    })
  )

  it(
    "loses and counts lines while the file cannot be opened, and works again later",
    inFolder(async (path) => {
      const output = await opened(path)
      await rm(join(path, ".."), { recursive: true })
      await write(output, "lost")
      expect(output.lost()).toBe(1)
      expect(output.works()).toBe(false)
    })
  )

  it(
    "keeps the order of lines that are written at once, and loses those beyond its bound",
    inFolder(async (path) => {
      const output = await opened(path, 12)
      output.write(["one"])
      output.write(["two"])
      output.write(["three"])
      output.write(["four"])
      await output.flushed()
      expect(await readFile(path, "utf8")).toBe("one\ntwo\n")
      expect(output.lost()).toBe(2)
    })
  )

  it("names LOG_FILE when it cannot be opened at the start", async () => {
    const error = await Effect.runPromise(Effect.flip(LogOutput.toFile("/nowhere/at/all.log")))
    expect(error.message).toMatch(/^LOG_FILE \/nowhere\/at\/all\.log cannot be written: ENOENT/)
  })
})
