import { Context, Layer } from "effect"
import { hash } from "node:crypto"

/** Unpredictable bytes, as an argument of everything that needs them: seeds, secrets, tokens, nonces. */
export class Entropy extends Context.Service<
  Entropy,
  {
    readonly bytes: (length: number) => Uint8Array
    /** `length` bytes as lower-case hex. */
    readonly hex: (length: number) => string
  }
>()("trunkline/actor/Entropy") {
  /** Gives reproducible bytes for tests: SHA-256 of a label and a counter. */
  static readonly layerFixed = (label: string) =>
    Layer.sync(Entropy, () => {
      let counter = 0
      const bytes = (length: number): Uint8Array => {
        const out = new Uint8Array(length)
        for (let offset = 0; offset < length; offset += 32)
          out.set(hash("sha256", `${label}:${counter++}`, "buffer").subarray(0, Math.min(32, length - offset)), offset)
        return out
      }
      return Entropy.of({ bytes, hex: (length) => Buffer.from(bytes(length)).toString("hex") })
    })
}
