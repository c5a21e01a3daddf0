import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Ids from "../../support/Ids.ts"
import * as RoomMedia from "./RoomMedia.ts"

/** A room `r` that is live. */
const live = () => {
  const use = RoomMedia.make()
  use.create("r")
  use.answer()
  return use
}

const mute = (member: string, isMuted = true) => ({ type: "mute", memberId: Ids.member(member), isMuted }) as const
const remove = (member: string) => ({ type: "remove", memberId: Ids.member(member) }) as const
const end = { type: "end" } as const

describe("Rooms", () => {
  it("are live when the media say so; legs that were sent there before come in then", () => {
    const use = RoomMedia.make()
    use.create("r")
    use.join("a", "r", "m")
    expect([use.ofRoom("r"), use.ofLeg("a")]).toEqual([[], []])
    use.answer()
    expect(use.ofRoom("r")).toEqual(["live"])
    use.answer()
    expect([use.ofRoom("r"), use.ofLeg("a")]).toEqual([["live", "joined m"], ["joined m"]])
    expect(use.members("r")).toEqual({ book: ["a m"], media: ["a m"] })
    use.create("r")
    expect(use.ofRoom("r").at(-1), "made again").toBe("live")
  })

  it("for which there is no place fail, with all that waits for them", () => {
    const use = RoomMedia.make()
    use.create("r")
    use.join("a", "r", "m")
    const muted = use.command("r", mute("m"))
    use.answer("too_many_legs")
    expect(use.ofRoom("r")).toEqual([`failed ${muted} unknown_member`, "failed 1 too_many_legs"])
    expect(use.ofLeg("a")).toEqual(["failed 2 unknown_room"])
    use.command("r", end)
    expect(use.ofRoom("r").at(-1)).toBe("over")
  })

  it("that are ended before the media answer never stand", () => {
    const use = RoomMedia.make()
    use.create("r")
    const join = use.join("a", "r", "m")
    use.command("r", end)
    use.answer()
    expect(use.ofRoom("r")).toEqual([])
    use.answer()
    expect([use.ofRoom("r"), use.ofLeg("a")]).toEqual([["over"], [`failed ${join} unknown_room`]])
  })

  it("tell that a leg left once, whoever was the cause", () => {
    const causes: ReadonlyArray<(use: ReturnType<typeof live>) => void> = [
      (use) => use.leave("a"),
      (use) => use.command("r", remove("m")),
      (use) => use.bridge("a", "b"),
      (use) => use.bridge("b", "a"),
      (use) => use.join("a", "r", "again"),
      (use) => use.lose("r"),
      (use) => use.command("r", end)
    ]
    for (const cause of causes) {
      const use = live()
      use.join("a", "r", "m")
      use.answer()
      cause(use)
      use.leave("a")
      expect(use.ofLeg("a").filter((each) => each === "left m")).toEqual(["left m"])
      expect(use.ofRoom("r").filter((each) => each === "left m")).toEqual(["left m"])
    }
    const use = live()
    use.join("a", "r", "m")
    use.answer()
    use.end("a")
    use.command("r", end)
    expect([use.ofLeg("a"), use.ofRoom("r")]).toEqual([["joined m"], ["live", "joined m", "left m"]])
  })

  it("take a leg out of the room and the bridge that it was in", () => {
    const use = live()
    use.create("s")
    use.answer()
    use.bridge("a", "b")
    use.answer()
    use.join("a", "r", "m")
    use.answer()
    expect(use.ofLeg("a")).toEqual(["bridged b", "unbridged b", "joined m"])
    use.join("a", "s", "n")
    use.answer()
    expect(use.ofLeg("a").slice(3)).toEqual(["left m", "joined n"])
    expect([use.ofRoom("r"), use.ofRoom("s")]).toEqual([
      ["live", "joined m", "left m"],
      ["live", "joined n"]
    ])
    use.bridge("b", "a")
    use.answer()
    expect(use.ofLeg("a").slice(5)).toEqual(["left n", "bridged b"])
  })

  it("that a leg leaves before it is in tell nothing of it, and the call hears both outcomes", () => {
    const use = live()
    const join = use.join("a", "r", "m")
    use.leave("a")
    use.answer()
    expect(use.ofLeg("a")).toEqual([`failed ${join} left`, "left m"])
    expect([use.ofRoom("r"), use.members("r")]).toEqual([["live"], { book: [], media: [] }])
  })

  it("a leg that ends, or is refused, before it is in was never there", () => {
    const use = live()
    use.join("a", "r", "m")
    use.end("a")
    use.answer()
    const refused = use.join("b", "r", "n")
    const muted = use.command("r", mute("n"))
    use.answer("other_thread")
    expect(use.ofRoom("r")).toEqual(["live", `failed ${muted} unknown_member`])
    expect([use.ofLeg("a"), use.ofLeg("b")]).toEqual([[], [`failed ${refused} other_thread`]])
  })

  it("do not let in whom they removed before it came", () => {
    const use = live()
    use.command("r", remove("m"))
    const join = use.join("a", "r", "m")
    expect(use.ofRoom("r")).toEqual(["live", "left m"])
    expect(use.ofLeg("a")).toEqual([`failed ${join} removed`])
    const waiting = use.join("a", "r", "n")
    use.command("r", remove("n"))
    use.answer()
    expect([use.ofRoom("r").slice(2), use.ofLeg("a").slice(1)]).toEqual([["left n"], [`failed ${waiting} removed`]])
  })

  it("change a member as soon as it is in, and tell what became of it", () => {
    const use = live()
    use.join("a", "r", "m")
    use.command("r", mute("m"))
    expect([use.asked, use.ofRoom("r")]).toEqual([[], ["live"]])
    use.answer()
    use.pass(5)
    use.command("r", { type: "hold", memberId: Ids.member("m"), isHeld: true, audioUrl: null })
    use.command("r", { type: "supervise", memberId: Ids.member("m"), role: "whisper", targets: [Ids.member("n")] })
    use.pass(2)
    expect(use.ofRoom("r").slice(1)).toEqual(["joined m", "muted m", "held m", "whisper m n"])
    expect(use.asked).toEqual([
      `m {"type":"mute","isMuted":true}`,
      `m {"type":"hold","isHeld":true,"audioUrl":null}`,
      `m {"type":"supervise","role":"whisper","targets":["n"]}`
    ])
    expect(use.book.members(Ids.conference("r"))).toEqual([
      {
        memberId: "m",
        callId: "call of a",
        legId: "a",
        isMuted: true,
        isHeld: true,
        role: "whisper",
        targets: ["n"],
        ageMs: 7,
        changedMs: 2
      }
    ])
  })

  it("that are not there fail what is asked of them; so do members", () => {
    const use = live()
    const failed = [use.command("none", mute("m")), use.command("r", mute("m"))]
    expect([use.ofRoom("none"), use.ofRoom("r").slice(1)]).toEqual([
      [`failed ${failed[0]} unknown_room`],
      [`failed ${failed[1]} unknown_member`]
    ])
    use.command("none", remove("m"))
    use.command("none", { type: "beep", except: null })
    use.command("none", end)
    expect(use.ofRoom("none").slice(1)).toEqual(["left m", "over"])
    const join = use.join("a", "none", "m")
    expect(use.ofLeg("a")).toEqual([`failed ${join} unknown_room`])
  })

  it("are over when their media have told everything, and then take nothing more", () => {
    const use = live()
    use.join("a", "r", "m")
    use.answer()
    use.command("r", end)
    const late = use.command("r", mute("m"))
    use.book.told(Ids.conference("r"), { type: "ended", id: Ids.work("w"), status: "stopped", reason: null })
    use.command("r", end)
    expect(use.book.isEnding(Ids.conference("r"))).toBe(true)
    use.answer()
    use.book.told(Ids.conference("r"), { type: "ended", id: Ids.work("w"), status: "stopped", reason: null })
    expect(use.ofRoom("r")).toEqual(["live", "joined m", "left m", `failed ${late} unknown_room`, "media", "over"])
    expect(use.book.ownerOf(Ids.conference("r")), "until that is through").toBe("c")
    use.book.forget(Ids.conference("r"))
    expect(use.book.ownerOf(Ids.conference("r"))).toBeNull()
  })

  it("say who speaks when that changes; nobody who is muted, held or gone does", () => {
    const use = live()
    const spoke = (isSpeaking: boolean) => use.book.spoke(Ids.conference("r"), Ids.member("m"), isSpeaking)
    spoke(true)
    use.join("a", "r", "m")
    use.answer()
    spoke(true)
    spoke(true)
    use.command("r", mute("m"))
    spoke(true)
    spoke(false)
    use.command("r", mute("m", false))
    spoke(true)
    use.leave("a")
    spoke(false)
    expect(use.ofRoom("r").slice(1)).toEqual([
      "joined m",
      "speaks m",
      "silent m",
      "muted m",
      "unmuted m",
      "speaks m",
      "silent m",
      "left m"
    ])
  })

  it("belong to the carrier that made them", () => {
    const use = live()
    use.command("r", mute("m"), "other")
    use.command("r", end, "other")
    use.command("none", end, "other")
    use.answer()
    expect(use.ofRoom("r").slice(1)).toEqual(["failed 2 unknown_member", "over"])
    expect(use.ofRoom("none")).toEqual(["other: over"])
    expect([use.book.roomsOf("c"), use.book.roomsOf("other")]).toEqual([["r"], []])
  })

  const legs = ["a", "b", "c"] as const
  const rooms = ["r", "s"] as const
  const Leg = Schema.Literals(legs)
  const Room = Schema.Literals(rooms)
  const Act = Schema.Union([
    Schema.Struct({ type: Schema.Literal("join"), leg: Leg, room: Room }),
    Schema.Struct({ type: Schema.Literal("join"), leg: Leg, room: Room }),
    Schema.Struct({ type: Schema.Literals(["leave", "end leg", "unbridge"]), leg: Leg }),
    Schema.Struct({ type: Schema.Literal("bridge"), leg: Leg, peer: Leg }),
    Schema.Struct({ type: Schema.Literals(["create", "create", "end", "lose", "disown"]), room: Room }),
    Schema.Struct({ type: Schema.Literals(["remove", "mute"]), room: Room, nth: Schema.Literals([0, 1, 2, 3, 4]) }),
    Schema.Struct({ type: Schema.Literals(["answer", "answer", "answer", "refuse", "forget"]) })
  ])

  it.prop(
    "and the legs in them tell one story, which is that of the media, whatever is asked in whatever order",
    [Schema.Array(Act)],
    ([acts]) => {
      const use = RoomMedia.make()
      const joined = new Map<string, { readonly leg: string; readonly room: string; readonly commandId: string }>()
      const ended = new Set<string>()
      const nth = (n: number) => `m${Math.min(n, joined.size)}`
      for (const act of acts)
        switch (act.type) {
          case "join": {
            if (ended.has(act.leg)) break
            const member = `m${joined.size}`
            joined.set(member, { leg: act.leg, room: act.room, commandId: use.join(act.leg, act.room, member) })
            break
          }
          case "leave":
            use.leave(act.leg)
            break
          case "end leg":
            ended.add(act.leg)
            use.end(act.leg)
            break
          case "bridge":
            if (!ended.has(act.leg)) use.bridge(act.leg, act.peer)
            break
          case "unbridge":
            use.unbridge(act.leg)
            break
          case "create":
            use.create(act.room)
            break
          case "end":
            use.command(act.room, end)
            break
          case "lose":
            use.lose(act.room)
            break
          case "disown":
            use.book.disowned(Ids.conference(act.room))
            break
          case "remove":
            use.command(act.room, remove(nth(act.nth)))
            break
          case "mute":
            use.command(act.room, mute(nth(act.nth)))
            break
          case "answer":
            use.answer()
            break
          case "refuse":
            use.answer("other_thread")
            break
          case "forget":
            for (const room of rooms) use.book.forget(Ids.conference(room))
        }
      while (use.answers.length > 0) use.answer()

      for (const room of rooms) {
        const { book, media } = use.members(room)
        expect(book, "the book is right about the media").toEqual(media)
        const told = use.ofRoom(room)
        const standing = new Set<string>()
        for (const said of told) {
          const [what, member = ""] = said.split(" ")
          if (what === "joined") standing.add(member)
          else if (what === "left") standing.delete(member)
          else if (what === "over") expect(standing, "each has left").toEqual(new Set())
        }
        expect([...standing].toSorted()).toEqual(book.map((each) => each.split(" ")[1] ?? "").toSorted())
        for (const member of joined.keys()) {
          expect(told.filter((each) => each === `joined ${member}`).length).toBeLessThan(2)
          const first = told.indexOf(`joined ${member}`)
          const lefts = told.slice(Math.max(first, 0)).filter((each) => each === `left ${member}`)
          if (first >= 0 && !standing.has(member)) expect(lefts.length).toBeGreaterThan(0)
        }
      }
      for (const leg of legs) {
        let inRoom: string | null = null
        let bridged: string | null = null
        for (const said of use.ofLeg(leg)) {
          const [what, other = ""] = said.split(" ")
          if (what === "joined") {
            expect([inRoom, bridged], "it is in one place at a time").toEqual([null, null])
            inRoom = other
          } else if (what === "left") {
            if (inRoom !== null) expect(inRoom).toBe(other)
            inRoom = null
          } else if (what === "bridged") {
            expect(inRoom).toBeNull()
            bridged = other
          } else if (what === "unbridged") bridged = null
        }
        if (!ended.has(leg)) {
          const place = use.places.get(Ids.leg(leg))
          expect(place === undefined ? null : "peer" in place ? place.peer : place.memberId).toBe(inRoom ?? bridged)
        }
      }
      for (const [member, { commandId, leg }] of joined) {
        const failed = use.ofLeg(leg).filter((said) => said.startsWith(`failed ${commandId} `)).length
        const came = use.ofLeg(leg).filter((said) => said === `joined ${member}`).length
        expect(failed + came, "a join has one outcome").toBe(ended.has(leg) ? Math.min(failed + came, 1) : 1)
      }
      for (const leg of legs) use.end(leg)
      for (const room of rooms) use.command(room, end)
      while (use.answers.length > 0) use.answer()
      for (const room of rooms) {
        use.book.forget(Ids.conference(room))
        expect([use.book.members(Ids.conference(room)), use.book.ownerOf(Ids.conference(room))]).toEqual([[], null])
        for (const member of joined.keys()) {
          const [came, went] = ["joined", "left"].map((what) =>
            use.ofRoom(room).findLastIndex((each) => each === `${what} ${member}`)
          )
          if ((came ?? -1) >= 0) expect(went).toBeGreaterThan(came ?? 0)
        }
      }
    },
    { arbitrary: { runs: 1000 } }
  )
})
