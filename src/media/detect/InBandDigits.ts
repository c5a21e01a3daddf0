import * as Dtmf from "../../protocol/audio/detect/Dtmf.ts"
import type { FarEnd } from "../FarEnd.ts"
import type { Frame } from "../Frame.ts"

/**
 * Listens for digits in the sound of a far end while it has no other way to press them. If it has agreed to telephone
 * events, its tones are only sound, so that no digit counts twice. `onHeld` is called in each frame in which the digit
 * sounds on.
 */
export const make = (far: FarEnd, onDigit: (digit: string, at: number) => void, onHeld: (at: number) => void) => {
  let dtmf: Dtmf.Dtmf | null = null
  return (said: Frame, at: number): void => {
    if (!far.pressesTones()) {
      dtmf = null
      return
    }
    dtmf ??= Dtmf.make()
    const digit = dtmf.hear(said.samples, said.rate)
    if (digit !== null) onDigit(digit, at)
    else if (dtmf.isPressed()) onHeld(at)
  }
}
