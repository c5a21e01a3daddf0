import * as Ramp from "../../protocol/audio/Ramp.ts"
import * as SpeakingDetector from "../../protocol/audio/detect/SpeakingDetector.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { MemberId } from "../../domain/Id.ts"
import * as Frame from "../Frame.ts"
import type { LocalLeg } from "../plane/LocalLeg.ts"
import type { Source } from "../mix/Source.ts"
import * as HeardMix from "./HeardMix.ts"
import * as Input from "./Input.ts"
import type { Entry, SupervisorRole } from "../../ports/media/MemberChange.ts"
import * as Talkers from "./Talkers.ts"

/** A whisper to a member, from its beginning until it has faded out. */
export interface Whisper {
  readonly from: MixMember
  readonly part: Input.Part
}

/** A member of a room. Mutable. */
export interface MixMember {
  readonly id: MemberId
  readonly leg: LocalLeg
  readonly isHost: boolean
  isMuted: boolean
  isHeld: boolean
  role: SupervisorRole
  targets: ReadonlySet<MemberId>
  /** It has left; the rest of its sound fades in the next round. */
  isLeaving: boolean
  /** The present round is its last. */
  isLast: boolean

  /** The rate of its leg in this round. */
  rate: SampleRate
  readonly input: Input.Input
  /** Its part in the common mix. */
  readonly part: Input.Part
  readonly talker: Talkers.Talker
  readonly speaking: SpeakingDetector.SpeakingDetector
  isSpeaking: boolean

  /** The whispers to it. */
  whispers: ReadonlyArray<Whisper>
  readonly own: HeardMix.Own
  /** Whether it hears a mix of its own, because it differs from the common mix in this round or did in the last. */
  isOwn: boolean
  differed: boolean
  /** Whether it heard the room at the end of the last round. */
  hears: boolean
  readonly ear: Ear
}

/** Passes the room's frames to the leg of a member, which takes them in its own slot. */
interface Ear {
  readonly source: Source
  /** Sets the next frame, lent until the next round. `isEnding`: it is the last one for a while. */
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

export const make = (
  leg: LocalLeg,
  { isHeld, isHost, isMuted, memberId, role = "none", targets = [] }: Entry
): MixMember => ({
  id: memberId,
  leg,
  isHost,
  isMuted,
  isHeld,
  role,
  targets: new Set(targets),
  isLeaving: false,
  isLast: false,
  rate: leg.far.rate(),
  input: Input.make(leg),
  part: Input.part(),
  talker: Talkers.talker(),
  speaking: SpeakingDetector.make(),
  isSpeaking: false,
  whispers: [],
  own: HeardMix.own(),
  isOwn: false,
  differed: false,
  hears: false,
  ear: ear()
})

/** Whether no other member may hear it. */
const isSilenced = ({ isHeld, isLeaving, isMuted, role }: MixMember): boolean =>
  isHeld || isMuted || isLeaving || role === "monitor"

/** Whether its sound may reach another member. */
export const speaks = (member: MixMember): boolean => !isSilenced(member)
/** Whether its sound is part of the common mix. */
export const isForAll = (member: MixMember): boolean => member.role !== "whisper" && !isSilenced(member)
/** Whether `to` hears its whisper. */
export const whispersTo = (member: MixMember, to: MixMember): boolean =>
  member.role === "whisper" && !isSilenced(member) && member.targets.has(to.id) && !to.isHeld

export const free = ({ input, own }: MixMember): void => {
  input.free()
  own.free()
}
