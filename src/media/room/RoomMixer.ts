import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { LegId, MemberId, WorkId } from "../../domain/Id.ts"
import type { CaptureCommand } from "../capture/CaptureMessage.ts"
import * as LegCaptures from "../capture/LegCaptures.ts"
import * as Frame from "../Frame.ts"
import type { LocalLeg } from "../plane/LocalLeg.ts"
import type { Entry, MemberChange } from "../../ports/media/MemberChange.ts"
import { failureOf } from "../../ports/media/MediaMessage.ts"
import * as Mix from "../mix/Mix.ts"
import * as SharedPlaybacks from "../mix/SharedPlaybacks.ts"
import * as Taps from "../mix/Tap.ts"
import type { LegEvent, PlaneCommand, PlaybackFailure } from "../plane/Protocol.ts"
import * as Comfort from "./Comfort.ts"
import * as HoldMusic from "./HoldMusic.ts"
import * as MixMember from "./MixMember.ts"
import * as MixMinus from "./MixMinus.ts"
import * as Recorded from "./Recorded.ts"
import * as Signal from "./Signal.ts"
import * as Talkers from "./Talkers.ts"

interface Options extends Taps.Options {
  readonly id: LegId
  readonly emit: (event: LegEvent) => void
  /** An internal error occurred with the sound of one member; its leg has to be closed. */
  readonly onFault: (leg: LocalLeg, error: unknown) => void
  readonly comfort?: Comfort.Comfort
}

export type RoomMixer = ReturnType<typeof make>

/** The tone when a member joins or leaves, which differs from the tones of keys and of recordings. */
const beep = { frequency: 1000, ms: 200 }

/** Returns 8 kHz when all members are narrow-band, as telephones are, and 16 kHz when one is not. */
const rateOf = (members: ReadonlyArray<MixMember.MixMember>): SampleRate => {
  for (let i = 0; i < members.length; i++) if ((members[i]?.rate ?? 8000) > 8000) return 16_000
  return 8000
}

/**
 * How long a room stays wide-band after its last wide-band member. Each change is audible to all as a dip of 10 ms, and
 * a peer may change its codec as often as it likes.
 */
const wideMs = 10_000

/**
 * A junction of many legs. In its own slot it reads all members and makes the frame of each, which their legs take in
 * their own slots: the common mix, or a mix of its own for a member that is heard or is whispered to (`MixMinus`). It
 * takes commands, playbacks and captures like a leg. While it has no member, its time stands still.
 */
export const make = ({ clock, comfort, cpuClock = clock, emit, id, onDefect, onFault }: Options) => {
  /** Members that leave stay here for one more round. */
  let members: ReadonlyArray<MixMember.MixMember> = []
  const byId = new Map<MemberId, MixMember.MixMember>()
  const byLeg = new Map<LocalLeg, MixMember.MixMember>()
  const taps = Taps.make({ clock, cpuClock, onDefect }, () => undefined)
  let rate: SampleRate = 8000
  let wideAt = Number.NEGATIVE_INFINITY

  const playbacks = SharedPlaybacks.make({
    emit: (event) => emit({ type: "media", event }),
    want: ({ id, sound }) => emit({ type: "wanted", id, sound, rate }),
    unwant: (id) => emit({ type: "unwanted", id }),
    others: () => [...byId.values()].map(({ leg }) => leg.player)
  })
  const music = HoldMusic.make({
    name: id,
    want: (id, sound, rate) => emit({ type: "wanted", id, sound, rate }),
    unwant: (id) => emit({ type: "unwanted", id }),
    failed: (id, reason) => emit({ type: "media", event: { type: "ended", id, status: "failed", reason } })
  })
  const played = Mix.make()
  played.add(playbacks.player, "playback")
  const beeps = Signal.make<MixMember.MixMember>(beep)
  const warnings = Signal.make<MixMember.MixMember>()
  const captures = LegCaptures.make({ taps, ready: () => true, beep: () => warnings.sound(null), emit })
  const mixMinus = MixMinus.make({
    played,
    signals: [beeps, warnings],
    recorded: Recorded.make(taps),
    comfort: comfort ?? Comfort.make()
  })
  const talkers: Array<Talkers.Talker> = []

  /** Marks a member as not speaking at once, whatever its sound. */
  const hush = (member: MixMember.MixMember): void => {
    member.speaking.restart()
    if (!member.isSpeaking) return
    member.isSpeaking = false
    emit({ type: "spoke", memberId: member.id, isSpeaking: false })
  }

  /** Adds the whispers of present members to their present targets. The mix drops whispers that have faded out. */
  const relate = (): void => {
    for (const from of members)
      for (const id of from.role === "whisper" ? from.targets : []) {
        const to = byId.get(id)
        if (to === undefined || to === from || to.whispers.some((whisper) => whisper.from === from)) continue
        to.whispers = [...to.whispers, MixMinus.whisper(from)]
      }
  }

  /** Releases the leg of a member at once; the others hear it fade in the next round. */
  const leave = (member: MixMember.MixMember, now: number): void => {
    if (member.isLeaving) return
    hush(member)
    member.isLeaving = true
    byId.delete(member.id)
    byLeg.delete(member.leg)
    music.end(member.leg)
    const isRead = MixMinus.isHeard(member, members) && member.input.readAhead(now)
    member.leg.leave(isRead)
    playbacks.left(member.leg.player)
  }

  /** Reads a member's sound of this round, and finds out whether it speaks. */
  const hear = (member: MixMember.MixMember, now: number): void => {
    member.isLast = member.isLeaving
    member.rate = member.leg.far.rate()
    member.input.read(now)
    if (!MixMember.speaks(member)) return
    const frame = member.input.frame()
    const { speaking, talker } = member
    const isSpeaking = frame === null ? speaking.miss() : speaking.hear(frame.samples)
    Talkers.heard(talker, speaking.level(), speaking.isOpen())
    if (isSpeaking === member.isSpeaking) return
    member.isSpeaking = isSpeaking
    emit({ type: "spoke", memberId: member.id, isSpeaking })
  }

  const choose = (): void => {
    let count = 0
    for (let i = 0; i < members.length; i++) {
      const member = members[i]
      if (member === undefined) continue
      if (MixMember.isForAll(member)) talkers[count++] = member.talker
      else member.talker.isChosen = false
    }
    Talkers.choose(talkers, count)
  }

  /** The rate that the room should have. */
  const wanted = (round: ReadonlyArray<MixMember.MixMember>, now: number): SampleRate => {
    if (rateOf(round) > 8000) wideAt = now
    return now - wideAt < wideMs ? 16_000 : 8000
  }

  const tick = (now: number): void => {
    const round = members
    for (let i = 0; i < round.length; i++) {
      const member = round[i]
      if (member === undefined) continue
      try {
        hear(member, now)
      } catch (error) {
        onFault(member.leg, error)
      }
    }
    choose()
    rate = mixMinus.round(round, rate, wanted(round, now), now)
    if (round.some(({ isLast }) => isLast)) {
      for (const member of members) if (member.isLast) MixMember.free(member)
      members = members.filter(({ isLast }) => !isLast)
    }
  }

  const set = (member: MixMember.MixMember, change: MemberChange): void => {
    switch (change.type) {
      case "mute":
        member.isMuted = change.isMuted
        break
      case "hold":
        member.isHeld = change.isHeld
        if (change.isHeld && change.audioUrl !== null) music.start(member.leg, change.audioUrl, change.audioId)
        else music.end(member.leg)
        break
      case "supervise":
        member.role = change.role
        member.targets = new Set(change.targets)
        relate()
    }
    if (!MixMember.speaks(member)) hush(member)
  }

  return {
    tick,
    /** Whether it has no member, not even one that fades out. */
    isEmpty: (): boolean => members.length === 0,
    /** False when there is such a member, or the leg is in a junction already. */
    join: (leg: LocalLeg, entry: Entry): boolean => {
      if (byId.has(entry.memberId)) return false
      const member = MixMember.make(leg, entry)
      const isJoined = leg.join({
        source: member.ear.source,
        digit: (_, isTone) => {
          if (isTone) member.speaking.ignore()
        },
        beep: () => warnings.sound(member),
        others: [],
        leave: (now) => leave(member, now)
      })
      if (!isJoined) return false
      if (members.length === 0) {
        rate = rateOf([member])
        wideAt = Number.NEGATIVE_INFINITY
        mixMinus.start()
      }
      members = [...members, member]
      byId.set(member.id, member)
      byLeg.set(leg, member)
      for (const signal of [beeps, warnings]) signal.joined(member)
      relate()
      if (entry.isHeld && entry.audioUrl !== undefined) music.start(leg, entry.audioUrl, entry.audioId)
      return true
    },
    leave: (leg: LocalLeg, now: number): void => {
      const member = byLeg.get(leg)
      if (member !== undefined) leave(member, now)
    },
    set: (id: MemberId, change: MemberChange): void => {
      const member = byId.get(id)
      if (member !== undefined) set(member, change)
    },
    beep: (except: MemberId | null): void => beeps.sound(except === null ? null : (byId.get(except) ?? null)),
    /** `to`: the members concerned; null: all. */
    command: (media: PlaneCommand, to: ReadonlyArray<MemberId> | null): void => {
      switch (media.type) {
        case "play":
        case "speak":
        case "stop_playback":
          return playbacks.command(
            media,
            to?.flatMap((id) => byId.get(id)?.leg.player ?? [])
          )
        default: {
          const failure = failureOf(media, "unsupported")
          if (failure !== null) emit({ type: "media", event: failure })
        }
      }
    },
    supply: (id: WorkId, sound: Frame.Sound, isLast: boolean): void => {
      if (!music.supply(id, sound, isLast)) playbacks.player.supply(id, sound, isLast)
    },
    fail: (id: WorkId, reason: PlaybackFailure): void => {
      if (!music.fail(id, reason)) playbacks.player.fail(id, reason)
    },
    capture: (command: CaptureCommand): void => captures.command(command),
    gaps: playbacks.player.gaps,
    /** Releases all members. Their sound fades in one more round; after it, or at once, the room has to be freed. */
    close: (now: number): void => {
      playbacks.command({ type: "stop_playback", which: "all" })
      taps.close()
      for (const member of byId.values()) leave(member, now)
    },
    free: (): void => {
      // Members remain here only if closing failed.
      for (const { leg } of byId.values()) leg.leave(false)
      played.close()
      mixMinus.free()
      for (const member of members) MixMember.free(member)
      members = []
    }
  }
}
