import type { SampleRate } from "../../../protocol/audio/SampleRate.ts"
import * as Frame from "../../Frame.ts"
import * as RateConverter from "../../mix/RateConverter.ts"
import type { Source } from "../../mix/Source.ts"
import type { Complaint } from "../dialect/StreamDialect.ts"
import * as FileQueue from "./FileQueue.ts"
import * as Playout from "./Playout.ts"
import * as SoundQueue from "./SoundQueue.ts"
import * as StreamFormat from "../dialect/StreamFormat.ts"
import type * as FairShare from "../../../domain/fair/FairShare.ts"
import { fileRate } from "../dialect/StreamMessage.ts"

export interface Talking {
  readonly source: Source
  /** Takes the payload of a media message. */
  readonly media: (bytes: Uint8Array, now: number) => void
  readonly mark: (name: string) => void
  /** Drops all waiting sound from the next frame on, except for 4 ms that fade out. */
  readonly clear: () => void
  /** Takes the sound of a file whose decoding was requested; null: it has none. */
  readonly sound: (file: number, samples: Int16Array | null, isLast: boolean, now: number) => void
  readonly figures: () => Playout.Figures & { readonly rate: number }
  /** Returns all marks. The mix closes the source. */
  readonly end: () => void
}

/** The sound of a stream's server for the leg: a source in its mix, and the marks in it. */
export const make = (options: {
  readonly hears: "rtp" | "mp3"
  readonly format: StreamFormat.StreamFormat
  readonly now: number
  readonly capacity: FairShare.HolderShare
  readonly marked: (mark: Playout.Mark) => void
  readonly complain: (complaint: Complaint) => void
  readonly decode: (file: number, bytes: Uint8Array) => void
}): Talking => {
  const { complain, format, hears, marked, now, capacity } = options
  const rate: SampleRate = hears === "mp3" ? fileRate : format.rate
  const queue = SoundQueue.make(hears === "mp3" ? StreamFormat.samples() : format.decoder())
  const playout = Playout.make(queue, rate, now, capacity.allows)
  const converter = RateConverter.make()
  let converted = Frame.make(rate)
  const silence = Frame.make(rate)
  /** Whether the filter holds the last milliseconds of converted sound. */
  let isFiltered = false
  let held = 0
  let lastAt = now

  /** Updates the octets that are charged to the room. */
  const account = (): void => {
    const octets = queue.octets() + files.octets()
    capacity.add(octets - held)
    held = octets
  }
  const back = (marks: ReadonlyArray<Playout.Mark>): void => {
    for (const mark of marks) marked(mark)
  }

  const push = (bytes: Uint8Array, at: number): void => {
    if (!playout.push(bytes, at)) complain("rate_limit_reached")
    account()
  }
  const files = FileQueue.make({
    decode: options.decode,
    push,
    lost: playout.lost,
    mark: (name, isLossy) => back(playout.mark(name, isLossy)),
    hasCapacity: capacity.allows
  })

  const brought = (frame: Frame.Frame, to: SampleRate): Frame.Frame => {
    converted = Frame.at(to, converted)
    converter.convert(frame, converted)
    return converted
  }

  return {
    source: {
      next: (to, heard, at) => {
        lastAt = at
        const { frame, marks } = playout.next(at, (heard * 1000) / to)
        account()
        back(marks)
        if (frame !== null) {
          isFiltered = rate !== to
          return isFiltered ? brought(frame, to) : frame
        }
        if (!isFiltered) return null
        isFiltered = false
        return brought(silence, to)
      },
      pass: (at) => {
        lastAt = at
        playout.rest()
      },
      ready: () => playout.isReady(lastAt),
      close: () => converter.free()
    },
    media: (bytes, at) => {
      if (hears === "rtp") return push(bytes, at)
      if (!files.file(bytes)) complain("rate_limit_reached")
      account()
    },
    mark: (name) => {
      if (files.isFull() || playout.isFull()) complain("rate_limit_reached")
      back(files.mark(name))
    },
    clear: () => {
      back(playout.clear())
      back(files.clear())
      account()
    },
    sound: (file, samples, isLast, at) => {
      files.decoded(file, samples, isLast, at)
      account()
    },
    figures: () => ({ ...playout.figures, rate }),
    end: () => {
      back(playout.clear())
      back(files.clear())
      account()
    }
  }
}
