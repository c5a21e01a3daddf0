import { expect } from "vitest"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"

/** The states of a call and the verbs that change them: guide/calls.md#states, guide/calls.md#why-a-call-ended. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "a placed call rings, is answered, and ends when it is hung up by us",
    run: async (world) => {
      const { call, far } = await World.place(world, { customer_reference: "order 7" })
      await call.event("call.ringing")
      expect((await call.find()).status).toBe("ringing")
      await far.answer()
      await call.event("call.answered")
      const view = await call.act("hangup")
      expect([view.status, view.end_reason, view.end_initiator]).toEqual(["ended", "normal_clearing", "api"])
      await far.gone()
      expect(await call.over()).toEqual(["call.started", "call.ringing", "call.answered", "call.ended"])
      for (const { data } of call.told()) expect(data["customer_reference"]).toBe("order 7")
    }
  },
  {
    name: "a call that the far end hangs up has ended by the callee, and shows how it sounded",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      await far.say(200)
      await far.hangUp()
      const data = await call.event("call.ended")
      expect(data).toMatchObject({ status: "ended", end_reason: "normal_clearing", end_initiator: "callee" })
      if (world.carrier === "sip")
        expect(data).toMatchObject({
          sip_reason: { protocol: "Q.850", cause: 16, text: "Normal call clearing" },
          quality: { codec: "PCMU", inbound: { packets: expect.any(Number), lost: 0 } }
        })
      const view = await call.find()
      expect(view.legs[0]?.quality).toEqual(data["quality"])
    }
  },
  {
    name: "a call that we hang up shows how it sounded, and why it ended, in its last event",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      await far.say(200)
      const view = await call.act("hangup")
      const data = await call.event("call.ended")
      expect(data).toMatchObject({
        end_initiator: "api",
        ended_at: view.ended_at,
        duration_seconds: view.duration_seconds,
        why: { code: "hangup_requested" }
      })
      if (world.carrier === "sip")
        expect(data).toMatchObject({ quality: { codec: "PCMU", inbound: { packets: expect.any(Number), lost: 0 } } })
      await far.gone()
      expect((await call.find()).legs[0]?.quality).toEqual(data["quality"])
    }
  },
  {
    name: "hangup before the answer cancels the call",
    run: async (world) => {
      const { call, far } = await World.place(world)
      await call.event("call.ringing")
      expect(await call.act("hangup")).toMatchObject({ status: "ended", end_reason: "cancelled", end_initiator: "api" })
      await far.gone()
    }
  },
  {
    name: "a busy far end fails the call",
    run: async (world) => {
      const { call, far } = await World.place(world)
      await far.refuse("user_busy")
      expect(await call.event("call.ended")).toMatchObject({
        status: "failed",
        end_reason: "user_busy",
        end_initiator: "callee",
        sip_status: 486,
        duration_seconds: 0
      })
    }
  },
  {
    name: "a far end that rejects fails the call",
    run: async (world) => {
      const { call, far } = await World.place(world)
      await far.refuse("rejected")
      expect(await call.event("call.ended")).toMatchObject({
        status: "failed",
        end_reason: "rejected",
        end_initiator: "callee"
      })
    }
  },
  {
    name: "a number that does not exist fails the call, by the carrier",
    run: async (world) => {
      const call = await World.dial(world, "+12025550107")
      expect(await call.event("call.ended")).toMatchObject({
        status: "failed",
        // The simulated carrier has no route.
        end_reason: world.carrier === "sip" ? "not_found" : "no_route",
        end_initiator: "carrier"
      })
    }
  },
  {
    name: "a number of nobody has no route",
    only: "simulator",
    run: async (world) => {
      const call = await World.dial(world, "+12025559999")
      expect(await call.event("call.ended")).toMatchObject({ end_reason: "no_route", end_initiator: "carrier" })
    }
  },
  {
    name: "a carrier that fails fails the call",
    run: async (world) => {
      const call = await World.dial(world, "+12025550108")
      expect(await call.event("call.ended")).toMatchObject({
        status: "failed",
        end_reason: "carrier_error",
        end_initiator: "carrier"
      })
    }
  },
  {
    name: "the carrier says that nobody answers (480)",
    only: "sip",
    run: async (world) => {
      const call = await World.dial(world, "+12025550130")
      expect(await call.event("call.ended")).toMatchObject({
        status: "failed",
        end_reason: "no_answer",
        end_initiator: "carrier",
        sip_status: 480
      })
    }
  },
  {
    name: "a call that rings longer than timeout_secs fails by the system",
    run: async (world) => {
      const { call, far } = await World.place(world, { timeout_secs: 1 })
      expect(await call.event("call.ended")).toMatchObject({
        status: "failed",
        end_reason: "timeout",
        end_initiator: "system"
      })
      await far.gone()
    }
  },
  {
    name: "an answered call ends at time_limit_secs by the system",
    run: async (world) => {
      const { call, far } = await World.answered(world, { time_limit_secs: 1 })
      expect(await call.event("call.ended")).toMatchObject({
        status: "ended",
        end_reason: "time_limit",
        end_initiator: "system",
        duration_seconds: 1
      })
      await far.gone()
    }
  },
  {
    name: "an inbound call is told with the caller's headers, answered, and ended by the caller",
    run: async (world) => {
      const { call, far } = await World.offered(world)
      expect((await call.find()).direction).toBe("inbound")
      await call.act("answer", { custom_headers: [{ name: "X-Answered-By", value: "agent 7" }] })
      await call.event("call.answered")
      await far.hangUp()
      expect(await call.event("call.ended")).toMatchObject({ end_reason: "normal_clearing", end_initiator: "caller" })
    }
  },
  {
    name: "an inbound call that the caller gives up has ended as cancelled",
    run: async (world) => {
      const { call, far } = await World.offered(world)
      await far.hangUp()
      expect(await call.event("call.ended")).toMatchObject({
        status: "ended",
        end_reason: "cancelled",
        end_initiator: "caller"
      })
    }
  },
  ...(["user_busy", "rejected"] as const).map((cause): Row => ({
    name: `reject as ${cause} fails an inbound call at once, by the API`,
    run: async (world) => {
      const { call, far } = await World.offered(world)
      expect(await call.act("reject", { cause })).toMatchObject({
        status: "failed",
        end_reason: cause,
        end_initiator: "api"
      })
      await far.gone()
      expect(await call.over()).toEqual(["call.started", "call.ended"])
    }
  })),
  {
    name: "hangup of an inbound call that nobody answered ends it as cancelled",
    run: async (world) => {
      const { call, far } = await World.offered(world)
      expect(await call.act("hangup")).toMatchObject({ status: "ended", end_reason: "cancelled", end_initiator: "api" })
      await far.gone()
    }
  },
  {
    name: "answer records and streams in the same request, both ways",
    run: async (world) => {
      const { servers } = world.running()
      const { call, far } = await World.offered(world)
      await call.act("answer", {
        record: "record-from-answer",
        record_channels: "dual",
        record_format: "wav",
        stream_url: servers.streamUrl(call.id),
        stream_track: "both_tracks",
        stream_codec: "PCMU"
      })
      const stream = await servers.stream(call.id)
      await stream.heard.next("both tracks", ({ event, media }) => event === "media" && trackOf(media) === "outbound")
      await stream.heard.next("both tracks", ({ event, media }) => event === "media" && trackOf(media) === "inbound")
      expect(await call.event("stream.started")).toMatchObject({ stream_track: "both_tracks", stream_codec: "PCMU" })
      // The recording begins with the answer, so half a second of sound must follow that.
      await call.event("call.answered")
      const heard = stream.heard.all.length
      await stream.heard.until("half a second", (messages) => messages.length > heard + 50 || undefined)
      await far.hangUp()
      await call.event("call.ended")
      expect(await call.event("recording.completed")).toMatchObject({ channels: "dual", format: "wav" })
      const types = call.types()
      expect(types.toSorted()).toEqual([
        "call.answered",
        "call.ended",
        "call.started",
        "recording.completed",
        "stream.started",
        "stream.stopped"
      ])
      expect(types.indexOf("stream.stopped")).toBeLessThan(types.indexOf("call.ended"))
    }
  }
]

const trackOf = (media: unknown): unknown => (media as { readonly track?: unknown }).track
