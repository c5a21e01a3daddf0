import * as Dialer from "./Dialer.ts"
import type { FarEnd } from "./FarEnd.ts"
import * as Frame from "./Frame.ts"
import type { MediaCommand, MediaEvent } from "./message/MediaMessage.ts"
import * as Player from "./Player.ts"

export type LocalLeg = ReturnType<typeof make>

/**
 * Our side of a leg, whatever its far end is: plays to it and sends it digits.
 *
 * The leg runs at the rate of its far end. What that says is in `heard` after each tick; recorders, detectors, bridges
 * and rooms will read it there. A playback does not advance while digits are sent, nor before the far end can hear.
 */
export const make = (far: FarEnd, emit: (event: MediaEvent) => void) => {
  const player = Player.make(emit)
  const dialer = Dialer.make(far.press, emit)
  let heard = Frame.make(far.rate())
  let out = Frame.make(far.rate())

  return {
    player,
    heard: (): Frame.Frame => heard,
    /** What the call asks. */
    command: (media: MediaCommand): void => {
      switch (media.type) {
        case "play":
          return player.play(media.id, media.loop)
        case "stop_playback":
          return player.stop(media.which)
        case "send_dtmf":
          return dialer.send(media.id, media.digits, media.durationMs)
        default:
          return media satisfies never
      }
    },
    /** One round of 20 ms. */
    tick: (now: number): void => {
      const rate = far.rate()
      heard = Frame.at(rate, heard)
      out = Frame.at(rate, out)
      far.say(heard, now)
      if (!far.ready()) return
      if (!dialer.render(out)) player.render(out)
      far.hear(out, now)
    },
    /** Ends what waits, then the far end. */
    close: (now: number): void => {
      player.close()
      dialer.close()
      far.close(now)
    }
  }
}
