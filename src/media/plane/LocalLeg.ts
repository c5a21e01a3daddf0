import * as RingbackTone from "../../protocol/audio/RingbackTone.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { WorkId } from "../../domain/Id.ts"
import type { CaptureEvent } from "../capture/CaptureMessage.ts"
import * as LegCaptures from "../capture/LegCaptures.ts"
import * as Beeper from "../mix/Beeper.ts"
import * as InBandDigits from "../detect/InBandDigits.ts"
import * as TwoWayDigits from "../detect/TwoWayDigits.ts"
import * as LegDetection from "../detect/LegDetection.ts"
import * as Policies from "../../domain/fair/Policies.ts"
import * as TokenBucket from "../../domain/fair/TokenBucket.ts"
import * as Dialer from "../mix/Dialer.ts"
import type { FarEnd } from "../FarEnd.ts"
import * as Frame from "../Frame.ts"
import type { Membership } from "../mix/Junction.ts"
import type { MediaEvent } from "../../ports/media/MediaMessage.ts"
import type { PlaneCommand } from "./Protocol.ts"
import * as Mix from "../mix/Mix.ts"
import * as SharedPlaybacks from "../mix/SharedPlaybacks.ts"
import type * as Player from "../mix/Player.ts"
import * as RingbackSource from "../mix/RingbackSource.ts"
import type { Source } from "../mix/Source.ts"
import * as Taps from "../mix/Tap.ts"
import * as LegStream from "../stream/LegStream.ts"
import type { Common } from "../stream/dialect/Common.ts"
import type { StreamAsk } from "../stream/dialect/StreamMessage.ts"

interface Options extends Taps.Options {
  readonly emit: (event: MediaEvent) => void
  /** The country of the ring-back tone. */
  readonly country?: RingbackTone.Country
  /** Requests the next piece of a sound at this rate; the player's `supply` or `fail` answers it. */
  readonly want: (playback: Parameters<Player.Want>[0], rate: SampleRate) => void
  /** Gives up a sound that another leg was asked for, because this leg needs no more of it. */
  readonly unwant: (id: WorkId) => void
  /** Takes the events of captures. */
  readonly captured: (event: CaptureEvent) => void
  /** The state that all streams share. */
  readonly streams: Common
  /** Takes a request of a stream; its `answer` answers it. */
  readonly ask: (ask: StreamAsk) => void
  /** The far end failed during a read. The leg has to be closed, and reads nothing more. */
  readonly onFault: (error: unknown) => void
}

export interface LocalLeg {
  readonly far: FarEnd
  readonly mix: Mix.Mix
  readonly taps: Taps.Taps
  readonly player: Player.Player
  readonly dialer: Dialer.Dialer
  readonly captures: LegCaptures.LegCaptures
  /** Sounds the warning tone of a recording on this leg only. */
  readonly beep: () => void
  readonly stream: LegStream.LegStream
  /** Carries out a command of the call. */
  readonly command: (media: PlaneCommand) => void
  /**
   * The far end pressed a digit outside its sound, see `OnDigit`; `at` is in milliseconds of the plane's clock. Digits
   * past the limit (`Policies.digits`) are dropped.
   */
  readonly digit: (digit: string, at: number, isPassedOn?: boolean) => boolean
  /** The far end still holds the key of its last `digit`. */
  readonly held: (at: number) => void
  /**
   * The far end pressed a digit, as its signalling says. Returns whether it is new; then it acts as every other digit,
   * but no `dtmf` event reports it.
   */
  readonly signalled: (digit: string, at: number) => boolean
  /**
   * Reads 20 ms of the far end, lent until the next call; `null` when it says nothing. Called once a round: by the
   * junction of the leg, or by its own tick when it has none. Never throws.
   */
  readonly read: (now: number) => Frame.Frame | null
  /** One round of 20 ms: reads, unless a junction does, then sends. */
  readonly tick: (now: number) => void
  /** Makes the leg a member of a junction; false when it is one already. */
  readonly join: (junction: Membership) => boolean
  /** When it was read last. */
  readonly readAt: () => number
  /**
   * Ends the membership. `isRead`: the junction has read the frame of the coming round already. If it has not, the leg
   * reads next in its own round that is nearest to 20 ms after the last read.
   */
  readonly leave: (isRead: boolean) => void
  readonly isJoined: () => boolean
  /** Skips this many frames, because the clock stood still; they are not made up for. */
  readonly skip: (frames: number) => void
  /**
   * Ends the membership, the stream, the waiting playbacks, the taps, then the far end. An error in one step does not
   * keep the others from running. Never throws.
   */
  readonly close: (now: number) => void
}

/**
 * Our side of a leg, independent of the kind of far end. A mix of sources is sent to the far end, a junction reads its
 * sound, and both can be tapped.
 *
 * The leg runs at the rate of its far end. A source waits while the far end cannot hear yet.
 */
export const make = (
  far: FarEnd,
  { ask, captured, clock, cpuClock = clock, country, emit, onDefect, onFault, streams, unwant, want }: Options
): LocalLeg => {
  const mix = Mix.make()
  const taps = Taps.make({ clock, cpuClock, onDefect }, far.overhear)
  const playbacks = SharedPlaybacks.make({
    emit,
    want: (playback) => want(playback, far.rate()),
    unwant,
    others: () => junction?.others ?? []
  })
  const { player } = playbacks
  const dialer = Dialer.make(far.press, emit)
  const beeper = Beeper.make()
  const beep = (): void => {
    beeper.beep()
    junction?.beep()
  }
  const captures = LegCaptures.make({ taps, ready: far.ready, beep, emit: captured })
  const stream = LegStream.make({ far, mix, taps }, streams, { clock, ask, emit, onDefect })
  const detection = LegDetection.make({ taps, emit })
  mix.add(dialer, "digits", "silenced")
  mix.add(beeper, "announcement")
  mix.add(player, "playback")
  let ringback: Source | null = null
  let junction: Membership | null = null
  let isAhead = false
  /** Whether it has left a junction since its last round. */
  let isBack = false
  let readAt = Number.NEGATIVE_INFINITY
  /** Whether it is closed, or its far end failed. */
  let isOver = false
  let said = Frame.make(far.rate())
  let silence = Frame.make(far.rate())

  const ring = (isOn: boolean): void => {
    if (isOn === (ringback !== null)) return
    if (ringback !== null) mix.remove(ringback)
    ringback = isOn ? RingbackSource.make(RingbackTone.table[country ?? RingbackTone.defaultCountry]) : null
    if (ringback !== null) mix.add(ringback, "ringback")
  }

  const presses = TwoWayDigits.make()
  const act = (digit: string, at: number): void => {
    player.digit(digit)
    stream.digit(digit, at)
  }
  const pressed = (digit: string, at: number): void => {
    emit({ type: "dtmf", digit, at })
    act(digit, at)
  }
  const digits = TokenBucket.make(Policies.digits)
  const hearDigits = InBandDigits.make(
    far,
    (digit, at) => {
      if (!presses.take("media", digit, at)) return
      pressed(digit, at)
      junction?.digit(digit, true, at)
    },
    presses.hold
  )

  /** Sends the far end its 20 ms. */
  const tell = (now: number): void => {
    const rate = far.rate()
    if (!far.ready()) {
      mix.pass(now)
      silence = Frame.at(rate, silence)
      return taps.give("outbound", silence, now)
    }
    const isForwarded = junction?.forward?.(now) ?? false
    const told = mix.next(rate, now)
    if (!isForwarded) far.hear(told, now)
    taps.give("outbound", told, now)
  }

  const leg: LocalLeg = {
    far,
    mix,
    taps,
    player,
    dialer,
    captures,
    beep: beeper.beep,
    stream,
    command: (media) => {
      switch (media.type) {
        case "play":
        case "speak":
        case "prompt":
        case "stop_prompt":
        case "stop_playback":
        case "cut_playback":
          return playbacks.command(media)
        case "send_dtmf":
          return dialer.send(media.id, media.digits, media.durationMs)
        case "ringback":
          return ring(media.isOn && junction === null)
        case "start_stream":
          return stream.start(media)
        case "stop_stream":
          return stream.stop()
        case "listen_early":
          return detection.listenEarly()
        case "detect_machine":
          return detection.start(media.id)
        default:
          return media satisfies never
      }
    },
    digit: (digit, at, isPassedOn = false) => {
      if (!digits.take(at)) {
        presses.skip()
        return true
      }
      if (!presses.take("media", digit, at)) return false
      pressed(digit, at)
      if (isPassedOn) junction?.passedDigit?.(digit, at)
      else junction?.digit(digit, false, at)
      return true
    },
    held: presses.hold,
    signalled: (digit, at) => {
      // The reporter has the same limit, and refuses such a digit.
      if (!digits.take(at)) return true
      if (!presses.take("signalling", digit, at)) return false
      act(digit, at)
      junction?.digit(digit, false, at)
      return true
    },
    read: (now) => {
      if (isOver) return null
      readAt = now
      try {
        said = Frame.at(far.rate(), said)
        const hasSound = far.say(said, now)
        taps.give("inbound", said, now)
        hearDigits(said, now)
        return hasSound ? said : null
      } catch (error) {
        // The reader may be another leg, which must not end because of this one.
        isOver = true
        onFault(error)
        return null
      }
    },
    tick: (now) => {
      const isEarly = isBack && now - readAt < Frame.frameMs / 2
      if (junction === null && !isAhead && !isEarly) leg.read(now)
      isAhead = false
      isBack = false
      // A tap may have closed the leg.
      if (isOver) return
      tell(now)
      stream.tick(now)
    },
    join: (to) => {
      if (junction !== null) return false
      junction = to
      ring(false)
      mix.add(to.source, "junction")
      return true
    },
    leave: (isRead) => {
      if (junction === null) return
      mix.remove(junction.source)
      playbacks.parted(junction.others)
      junction = null
      isAhead = isRead
      isBack = true
    },
    readAt: () => readAt,
    isJoined: () => junction !== null,
    skip: far.skip,
    close: (now) => {
      const steps = [() => junction?.leave(now), stream.stop, mix.close, taps.close, () => far.close(now)]
      for (const step of steps) {
        try {
          step()
        } catch (error) {
          onDefect(error)
        }
        isOver = true
      }
    }
  }
  return leg
}
