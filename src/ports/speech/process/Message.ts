import { Result } from "effect"

/**
 * The messages between the service and the espeak program, over the program's standard input and output. A message is
 * the length of its JSON and of its bytes (two unsigned 32-bit numbers, little endian), then both.
 */

/** Messages to the program, one at a time. It answers with `sound`s and an `end`, which follows a `stop` at once. */
export type Asked = Say | { readonly type: "stop"; readonly id: number }

export interface Say {
  readonly type: "say"
  readonly id: number
  readonly text: string
  readonly isSsml: boolean
  readonly voice: string
}

/** Messages from the program. The samples of a `sound` are the message's bytes. */
export type Told =
  | { readonly type: "ready" }
  | { readonly type: "sound"; readonly id: number; readonly rate: number }
  /** `isLast`: the program has grown too large and ends now. */
  | { readonly type: "end"; readonly id: number; readonly isLast: boolean }

const headLength = 8
/** The longest message in bytes; a longer one is garbage. */
const most = 1024 * 1024

export const write = (message: Asked | Told, bytes: Uint8Array = new Uint8Array(0)): Uint8Array => {
  const json = new TextEncoder().encode(JSON.stringify(message))
  const all = new Uint8Array(headLength + json.length + bytes.length)
  const view = new DataView(all.buffer)
  view.setUint32(0, json.length, true)
  view.setUint32(4, bytes.length, true)
  all.set(json, headLength)
  all.set(bytes, headLength + json.length)
  return all
}

export interface Read {
  readonly message: unknown
  readonly bytes: Uint8Array
}

/** Cuts incoming bytes into messages. It fails when the bytes are no messages; nothing is read after that. */
export const reader = (): ((bytes: Uint8Array) => Result.Result<ReadonlyArray<Read>, "garbage">) => {
  let rest = new Uint8Array(0)
  return (more) => {
    const all = new Uint8Array(rest.length + more.length)
    all.set(rest)
    all.set(more, rest.length)
    const view = new DataView(all.buffer)
    const found: Array<Read> = []
    let at = 0
    while (at + headLength <= all.length) {
      const json = view.getUint32(at, true)
      const bytes = view.getUint32(at + 4, true)
      if (json + bytes > most) return Result.fail("garbage")
      const end = at + headLength + json + bytes
      if (end > all.length) break
      const text = new TextDecoder().decode(all.subarray(at + headLength, at + headLength + json))
      try {
        found.push({ message: JSON.parse(text), bytes: all.slice(at + headLength + json, end) })
      } catch {
        return Result.fail("garbage")
      }
      at = end
    }
    rest = all.slice(at)
    return Result.succeed(found)
  }
}
