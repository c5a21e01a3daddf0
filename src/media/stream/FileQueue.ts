import { limits, type Mark } from "./Playout.ts"

type Entry = { readonly type: "file"; readonly bytes: Uint8Array } | { readonly type: "mark"; readonly name: string }

/**
 * MP3 files that a stream's server has sent, and the marks behind them, until they are decoded: one file at a time, in
 * order. As many entries may wait as marks.
 */
export const make = (options: {
  readonly decode: (file: number, bytes: Uint8Array) => void
  readonly push: (bytes: Uint8Array, now: number) => void
  readonly mark: (name: string) => void
  readonly hasRoom: (octets: number) => boolean
}) => {
  let entries: ReadonlyArray<Entry> = []
  let octets = 0
  /** The last file that was asked for, and whether it is being decoded. */
  let asked = 0
  let isBusy = false

  /** Goes on to the next file. */
  const advance = (): void => {
    for (let [entry] = entries; entry !== undefined && !isBusy; [entry] = entries) {
      entries = entries.slice(1)
      if (entry.type === "mark") options.mark(entry.name)
      else {
        isBusy = true
        octets -= entry.bytes.length
        options.decode(++asked, entry.bytes)
      }
    }
  }

  return {
    octets: (): number => octets,
    /** False: there is no room. */
    file: (bytes: Uint8Array): boolean => {
      if (entries.length >= limits.marks || !options.hasRoom(bytes.length)) return false
      entries = [...entries, { type: "file", bytes }]
      octets += bytes.length
      advance()
      return true
    },
    /** False: nothing stands before it here, or too much. */
    mark: (name: string): boolean => {
      if (!isBusy || entries.length >= limits.marks) return false
      entries = [...entries, { type: "mark", name }]
      return true
    },
    /** The next piece of the file that is being decoded; null: it cannot be. */
    decoded: (file: number, samples: Int16Array | null, isLast: boolean, now: number): void => {
      if (!isBusy || file !== asked) return
      if (samples !== null) options.push(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength), now)
      if (!isLast) return
      isBusy = false
      advance()
    },
    /** Forgets everything; gives the marks back. */
    clear: (): ReadonlyArray<Mark> => {
      const gone = entries
      entries = []
      octets = 0
      isBusy = false
      return gone.flatMap((entry) => (entry.type === "mark" ? [{ name: entry.name, isCleared: true }] : []))
    }
  }
}
