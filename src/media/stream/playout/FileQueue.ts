import * as Loss from "../Loss.ts"
import { limits, type Mark } from "./Playout.ts"

type Entry =
  | { readonly type: "file"; readonly bytes: Uint8Array }
  | { readonly type: "mark"; readonly name: string; readonly isLossy: boolean }

/**
 * MP3 files of a stream's server, and the marks between and after them, until they are decoded: one file at a time, in
 * order. The limit of marks bounds the entries.
 */
export const make = (options: {
  readonly decode: (file: number, bytes: Uint8Array) => void
  readonly push: (bytes: Uint8Array, now: number) => void
  /** A file could not be decoded. */
  readonly lost: () => void
  /** Everything before the mark has been pushed, except files for which there was no room (`isLossy`). */
  readonly mark: (name: string, isLossy: boolean) => void
  readonly hasCapacity: (octets: number) => boolean
}) => {
  let entries: ReadonlyArray<Entry> = []
  let octets = 0
  /** The last file whose decoding was requested, and whether it still runs. */
  let asked = 0
  let isBusy = false
  const loss = Loss.make()

  /** Continues with the next file. */
  const advance = (): void => {
    for (let [entry] = entries; entry !== undefined && !isBusy; [entry] = entries) {
      entries = entries.slice(1)
      if (entry.type === "mark") options.mark(entry.name, entry.isLossy)
      else {
        isBusy = true
        octets -= entry.bytes.length
        options.decode(++asked, entry.bytes)
      }
    }
  }

  return {
    octets: (): number => octets,
    /** Whether as many entries wait as may. */
    isFull: (): boolean => isBusy && entries.length >= limits.marks,
    /** False: there is no room. */
    file: (bytes: Uint8Array): boolean => {
      if (entries.length >= limits.marks || !options.hasCapacity(bytes.length)) {
        loss.dropped()
        return false
      }
      loss.kept()
      entries = [...entries, { type: "file", bytes }]
      octets += bytes.length
      advance()
      return true
    },
    /** Adds a mark; returns the marks that come back at once, because too many entries wait. */
    mark: (name: string): ReadonlyArray<Mark> => {
      const isLossy = loss.marked()
      if (isBusy && entries.length >= limits.marks) return [{ name, isCleared: true }]
      if (isBusy) entries = [...entries, { type: "mark", name, isLossy }]
      else options.mark(name, isLossy)
      return []
    },
    /** Takes the next piece of the file that is being decoded; null: decoding failed. */
    decoded: (file: number, samples: Int16Array | null, isLast: boolean, now: number): void => {
      if (!isBusy || file !== asked) return
      if (samples !== null) options.push(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength), now)
      else options.lost()
      if (!isLast) return
      isBusy = false
      advance()
    },
    /** Drops all entries; returns the marks. */
    clear: (): ReadonlyArray<Mark> => {
      const gone = entries
      entries = []
      octets = 0
      isBusy = false
      loss.cleared()
      return gone.flatMap((entry) => (entry.type === "mark" ? [{ name: entry.name, isCleared: true }] : []))
    }
  }
}
