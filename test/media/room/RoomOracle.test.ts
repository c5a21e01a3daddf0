import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Ramp from "../../../src/protocol/audio/Ramp.ts"
import * as Comfort from "../../../src/media/room/Comfort.ts"
import * as RoomMixer from "../../../src/media/room/RoomMixer.ts"
import { random } from "../../protocol/rtp/RandomBytes.ts"
import * as Ids from "../../support/Ids.ts"
import * as FakeLeg from "../support/FakeLeg.ts"

const ramp = Ramp.at(8000)
/** The samples that a member adds to a sum, from one gain to another. */
const shaped = (samples: Int16Array, from: boolean, to: boolean): ReadonlyArray<number> =>
  Array.from(samples, (sample, i) => {
    if (from === to) return to ? sample : 0
    const up = i < ramp.length ? (ramp[i] ?? 0) : 1
    const down = i < ramp.length ? (ramp[ramp.length - 1 - i] ?? 0) : 0
    return Math.round(sample * (to ? up : down)) + 0
  })

describe("What each member of a room hears", () => {
  it.prop(
    "is exactly the sum of what the others say, below the limiter: a slow sum agrees, whoever is muted, whispers or leaves",
    [
      Schema.Array(Schema.Tuple([Schema.Int, Schema.Literals(["mute", "unmute", "whisper", "none", "monitor"])])),
      Schema.Int
    ],
    ([script, seed]) => {
      const noise = random(Math.abs(seed) + 1)
      const count = 5
      const said: Array<Int16Array> = []
      const legs = Array.from({ length: count }, (_, who) =>
        FakeLeg.make({
          say: ({ samples }) => {
            for (let i = 0; i < samples.length; i++) samples[i] = Math.round((2 * noise() - 1) * 2000)
            said[who] = samples.slice()
          }
        })
      )
      const room = RoomMixer.make({
        id: Ids.leg("room"),
        clock: () => 0,
        onDefect: (error) => {
          throw error
        },
        onFault: (_, error) => {
          throw error
        },
        emit: () => undefined,
        comfort: Comfort.none
      })
      const ids = legs.map((_, who) => Ids.member(String(who)))
      legs.forEach(({ leg }, who) => {
        const memberId = ids[who]
        if (memberId !== undefined) room.join(leg, { memberId, isHost: false, isMuted: false, isHeld: false })
      })
      const state = legs.map(() => ({ isMuted: false, role: "none", wasHeard: false, whispered: false }))
      let now = 1000
      const round = () => {
        now += 20
        room.tick(now)
        for (const { leg } of legs) leg.tick(now + 5)
      }
      /** The target of all whispers. */
      const target = 0
      const compare = (isFirst: boolean) => {
        round()
        const parts = state.map((each, who) => {
          const isHeard = !each.isMuted && each.role === "none"
          const whispers = !each.isMuted && each.role === "whisper"
          const samples = said[who] ?? new Int16Array(160)
          const all = shaped(samples, each.wasHeard, isHeard)
          const whisper = shaped(samples, each.whispered, whispers)
          each.wasHeard = isHeard
          each.whispered = whispers
          return { all, whisper }
        })
        legs.forEach((fake, who) => {
          const heard = fake.take()
          if (isFirst) return
          const exact = Array.from({ length: 160 }, (_, i) =>
            parts.reduce(
              (sum, { all, whisper }, other) =>
                other === who ? sum : sum + (all[i] ?? 0) + (who === target ? (whisper[i] ?? 0) : 0),
              0
            )
          )
          expect([...heard]).toEqual(exact)
        })
      }
      compare(true)
      compare(false)
      for (const [who, act] of script) {
        const index = Math.abs(who) % count
        const [id, each] = [ids[index], state[index]]
        if (id === undefined || each === undefined) continue
        if (act === "mute" || act === "unmute") {
          each.isMuted = act === "mute"
          room.set(id, { type: "mute", isMuted: each.isMuted })
        } else {
          each.role = act
          room.set(id, { type: "supervise", role: act, targets: [Ids.member(String(target))] })
        }
        compare(false)
        compare(false)
      }
    }
  )
})
