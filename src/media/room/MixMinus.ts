import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Frame from "../Frame.ts"
import type { Mix } from "../mix/Mix.ts"
import type { Comfort } from "./Comfort.ts"
import * as HeardMix from "./HeardMix.ts"
import * as Input from "./Input.ts"
import * as MixMember from "./MixMember.ts"
import type * as Recorded from "./Recorded.ts"
import type { Signal } from "./Signal.ts"

export const whisper = (from: MixMember.MixMember): MixMember.Whisper => ({ from, part: Input.part() })

/** Whether any member hears this one. */
export const isHeard = (member: MixMember.MixMember, members: ReadonlyArray<MixMember.MixMember>): boolean =>
  member.part.isHeard ||
  members.some(({ whispers }) => whispers.some(({ from, part }) => from === member && part.isHeard))

/** Whether a whisper has faded out for good. */
const isOver = ({ from, part }: MixMember.Whisper, to: MixMember.MixMember): boolean =>
  !part.isHeard && (from.isLeaving || from.role !== "whisper" || !from.targets.has(to.id))

/**
 * The sums of a room. The common mix is summed once, in 32 bits. A member that is heard gets that sum minus exactly the
 * samples it added, and a target of a whisper gets the whisper added. Each sum is limited by itself.
 */
export const make = (of: {
  /** The sounds that are played to all. */
  readonly played: Mix
  readonly signals: ReadonlyArray<Signal<MixMember.MixMember>>
  readonly recorded: ReturnType<typeof Recorded.make>
  readonly comfort: Comfort
}) => {
  const { comfort, played, recorded, signals } = of
  const common = HeardMix.common()
  const sounding: Array<Frame.Frame | null> = signals.map(() => null)
  let all = new Int32Array(0)
  let single = new Int32Array(0)
  let seam: HeardMix.Seam = "none"

  const add = (samples: Int16Array): void => {
    for (let i = 0; i < all.length; i++) all[i] = (all[i] ?? 0) + (samples[i] ?? 0)
  }

  /** Sums all voices and playbacks, without the noise. */
  const sum = (members: ReadonlyArray<MixMember.MixMember>, rate: SampleRate, now: number): void => {
    const length = Frame.lengthAt(rate)
    if (all.length === length) all.fill(0)
    else {
      all = new Int32Array(length)
      single = new Int32Array(length)
    }
    for (let i = 0; i < members.length; i++) {
      const member = members[i]
      if (member !== undefined) member.input.addTo(all, member.part, member.talker.isChosen, rate)
    }
    add(played.next(rate, now).samples)
    for (let i = 0; i < signals.length; i++) {
      const frame = signals[i]?.next(rate, now) ?? null
      sounding[i] = frame
      if (frame !== null) add(frame.samples)
    }
  }

  const record = (members: ReadonlyArray<MixMember.MixMember>, rate: SampleRate, now: number): void => {
    let said: Int16Array | null = null
    for (let i = 0; i < members.length; i++) if (members[i]?.isHost === true) said = members[i]?.part.added ?? said
    recorded.give(all, said, rate, now)
  }

  const isKept = (member: MixMember.MixMember): boolean => {
    for (let i = 0; i < signals.length; i++)
      if (sounding[i] !== null && signals[i]?.isKeptFrom(member) === true) return true
    return false
  }

  /** Decides whether a member hears the common mix or its own in this round. */
  const decide = (member: MixMember.MixMember, rate: SampleRate): void => {
    if (member.isHeld && !member.hears) {
      member.isOwn = false
      member.differed = false
      return
    }
    const differs = member.part.added !== null || member.whispers.length > 0 || isKept(member)
    const wasOwn = member.isOwn
    // Its own mix is kept one round longer than it differs, until the filter of the common mix holds nothing of this
    // member.
    member.isOwn = differs || member.differed || (wasOwn && !member.own.isLike(common))
    member.differed = differs
    if (!member.isOwn) common.want(member.rate, rate)
    else if (!wasOwn) member.own.start(common, rate, member.rate)
  }

  const renderOwn = (member: MixMember.MixMember, rate: SampleRate): Frame.Frame => {
    const { added } = member.part
    if (added === null) single.set(all)
    else for (let i = 0; i < single.length; i++) single[i] = (all[i] ?? 0) - (added[i] ?? 0)
    for (let k = 0; k < signals.length; k++) {
      const samples = sounding[k]?.samples
      if (samples === undefined || signals[k]?.isKeptFrom(member) !== true) continue
      for (let i = 0; i < single.length; i++) single[i] = (single[i] ?? 0) - (samples[i] ?? 0)
    }
    for (const { from, part } of member.whispers)
      from.input.addTo(single, part, MixMember.whispersTo(from, member), rate)
    if (member.whispers.length > 0) member.whispers = member.whispers.filter((each) => !isOver(each, member))
    return member.own.render(single, rate, member.rate, seam)
  }

  const give = (member: MixMember.MixMember, rate: SampleRate): void => {
    const isEnding = member.isHeld && member.hears
    if (member.isHeld && !isEnding) return member.ear.give(null, false)
    member.hears = !member.isHeld
    member.ear.give(member.isOwn ? renderOwn(member, rate) : common.at(member.rate), isEnding)
  }

  return {
    /** Begins the first round after a pause. */
    start: (): void => {
      seam = "none"
      common.rest()
    },
    /** Makes the frame of each member. Returns the rate of the next round, which may be the wanted one. */
    round: (
      members: ReadonlyArray<MixMember.MixMember>,
      rate: SampleRate,
      wanted: SampleRate,
      now: number
    ): SampleRate => {
      const next = seam === "none" ? wanted : rate
      if (next !== rate) seam = "ends"
      sum(members, rate, now)
      record(members, rate, now)
      comfort.addTo(all, all.length)
      for (let i = 0; i < members.length; i++) {
        const member = members[i]
        if (member !== undefined) decide(member, rate)
      }
      common.render(all, rate, seam)
      for (let i = 0; i < members.length; i++) {
        const member = members[i]
        if (member !== undefined) give(member, rate)
      }
      seam = seam === "ends" ? "begins" : "none"
      return next
    },
    free: common.free
  }
}
