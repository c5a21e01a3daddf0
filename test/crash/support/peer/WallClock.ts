/**
 * Loaded into the service by `--import`: its parent sets the wall clock of this process by a message, as an operator or
 * NTP sets that of a machine. The monotonic clock, timers and other threads do not change.
 */
export interface SetWallClock {
  /** Added to the wall clock, in milliseconds; replaces the previous offset. */
  readonly wallClockOffsetMs: number
}

/** Makes the process throw an error that nothing catches. */
export interface Throw {
  readonly throws: string
}

let offsetMs = 0
const trueNow = Date.now
const now = (): number => trueNow() + offsetMs

globalThis.Date = new Proxy(Date, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self) as object
})
Date.now = now

process.on("message", (message: SetWallClock | Throw) => {
  if ("throws" in message)
    setImmediate(() => {
      throw new Error(message.throws)
    })
  else offsetMs = message.wallClockOffsetMs
})
// A listener keeps the channel open, and the channel keeps the process alive.
process.channel?.unref()
