/** The start of a session is at most this long. */
const longestStart = 10_000

/**
 * Reads the bytes that a client sends to Postgres (PostgreSQL, "Message Formats"). Gives, for each piece, the
 * statements that it sends or binds: one that was prepared before is known by its name. The start of a session, which
 * names the application, counts as a statement. Bytes that are not Postgres have none.
 */
export const reader = () => {
  const prepared = new Map<string, string>()
  let buffered = Buffer.alloc(0)
  /** The bytes left of a message that is known already. */
  let skipped = 0
  let isStarted = false
  let isForeign = false

  /** Reads up to the second NUL, because names and texts come first in a message. */
  const firstTwo = (body: Buffer): readonly [string, string] | null => {
    const end = body.indexOf(0)
    const second = end < 0 ? -1 : body.indexOf(0, end + 1)
    return second < 0 ? null : [body.toString("utf8", 0, end), body.toString("utf8", end + 1, second)]
  }

  return (bytes: Buffer): ReadonlyArray<string> => {
    const statements: Array<string> = []
    if (isForeign) return statements
    buffered = Buffer.concat([buffered, bytes])
    for (;;) {
      const skip = Math.min(skipped, buffered.length)
      buffered = buffered.subarray(skip)
      skipped -= skip
      const head = isStarted ? 5 : 4
      if (buffered.length < head) return statements
      const length = buffered.readUInt32BE(head - 4) + head - 4
      if (!isStarted && length > longestStart) {
        isForeign = true
        return statements
      }
      const body = buffered.subarray(head, length)
      const isComplete = buffered.length >= length
      const texts = firstTwo(body)
      // The beginning of a long message is enough.
      if (!isComplete && (!isStarted || texts === null)) return statements
      const [first, second] = texts ?? ["", ""]
      const type = isStarted ? String.fromCharCode(buffered[0] ?? 0) : "start"
      if (type === "start") statements.push(body.toString("latin1"))
      if (type === "Q") statements.push(body.toString("utf8", 0, body.length - 1))
      if (type === "P") {
        prepared.set(first, second)
        statements.push(second)
      }
      if (type === "B") statements.push(prepared.get(second) ?? "")
      isStarted = true
      skipped = length
    }
  }
}
