import * as Ramp from "../../protocol/audio/Ramp.ts"
import * as Speaking from "../../protocol/audio/detect/Speaking.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { MemberId } from "../../domain/Id.ts"
import * as Frame from "../Frame.ts"
import type { LocalLeg } from "../plane/LocalLeg.ts"
import type { Source } from "../mix/Source.ts"
import * as Hearing from "./Hearing.ts"
import * as Input from "./Input.ts"
import type * as Seat from "./Seat.ts"
import * as Talkers from "./Talkers.ts"

/** A whisper to a member, from when it is heard until it has faded out. */
export interface Whisper {
  readonly from: Member
  readonly part: Input.Part
}

/** One who is in a room. Mutable. */
export interface Member {
  readonly id: MemberId
  readonly leg: LocalLeg
  readonly isHost: boolean
  isMuted: boolean
  isHeld: boolean
  role: Seat.Role
  targets: ReadonlySet<MemberId>
  /** It has gone; what is left of it fades in the next round. */
  isLeaving: boolean
  /** The present round is its last. */
  isLast: boolean

  /** Of its leg, in this round. */
  rate: SampleRate
  readonly input: Input.Input
  /** In what all hear. */
  readonly part: Input.Part
  readonly talker: Talkers.Talker
  readonly speaking: Speaking.Speaking
  isSpeaking: boolean

  /** What is whispered to it. */
  whispers: ReadonlyArray<Whisper>
  readonly own: Hearing.Own
  /** Whether it hears something of its own, and why: it differed from what all hear in this round, or in the last. */
  isOwn: boolean
  differed: boolean
  /** Whether it heard the room at the end of the last round. */
  hears: boolean
  readonly ear: Ear
}

/** What the leg of a member takes from the room, in its own turn. */
export interface Ear {
  readonly source: Source
  /** Lent until the next round. `isEnding`: it is the last that is heard for a while. */
  readonly give: (frame: Frame.Frame | null, isEnding: boolean) => void
}

const ear = (): Ear => {
  let given: Frame.Frame | null = null
  let isEnding = false
  let fading = Frame.make(8000)

  const faded = ({ rate, samples }: Frame.Frame): Frame.Frame => {
    fading = Frame.at(rate, fading)
    fading.samples.set(samples)
    const ramp = Ramp.lengthAt(rate)
    Ramp.fadeOut(fading.samples, rate, ramp, 0, ramp)
    fading.samples.fill(0, ramp)
    return fading
  }

  return {
    source: {
      next: (rate) => {
        const frame = given
        given = null
        if (frame === null || frame.rate !== rate) return null
        return isEnding ? faded(frame) : frame
      },
      pass: () => {
        given = null
      },
      ready: () => false,
      close: () => {
        given = null
      }
    },
    give: (frame, ends) => {
      given = frame
      isEnding = ends
    }
  }
}

export const make = (leg: LocalLeg, { isHeld, isHost, isMuted, memberId }: Seat.Seat): Member => ({
  id: memberId,
  leg,
  isHost,
  isMuted,
  isHeld,
  role: "none",
  targets: new Set(),
  isLeaving: false,
  isLast: false,
  rate: leg.far.rate(),
  input: Input.make(leg),
  part: Input.part(),
  talker: Talkers.talker(),
  speaking: Speaking.make(),
  isSpeaking: false,
  whispers: [],
  own: Hearing.own(),
  isOwn: false,
  differed: false,
  hears: false,
  ear: ear()
})

/** Whether anybody may hear it. */
const isSilenced = ({ isHeld, isLeaving, isMuted, role }: Member): boolean =>
  isHeld || isMuted || isLeaving || role === "monitor"

/** Whether it speaks to somebody, when it says something. */
export const speaks = (member: Member): boolean => !isSilenced(member)
/** Whether all may hear it. */
export const isForAll = (member: Member): boolean => member.role !== "whisper" && !isSilenced(member)
/** Whether `to` hears what it whispers. */
export const whispersTo = (member: Member, to: Member): boolean =>
  member.role === "whisper" && !isSilenced(member) && member.targets.has(to.id) && !to.isHeld

export const free = ({ input, own }: Member): void => {
  input.free()
  own.free()
}
