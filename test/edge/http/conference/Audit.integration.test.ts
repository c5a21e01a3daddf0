import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import * as Service from "../../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"
import * as Room from "./RoomOfService.ts"

class Running extends Context.Service<Running, Effect.Success<ReturnType<typeof Service.start>>>()("test/Audit") {}

const running = Layer.effect(Running, Effect.orDie(Service.start("audit"))).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

interface Line {
  readonly action: string
  readonly actor: { readonly type: string; readonly name: string | null }
  readonly changes: ReadonlyArray<{ readonly field: string; readonly from: unknown; readonly to: unknown }>
}

layer(running, { timeout: "60 seconds", excludeTestServices: true })("The audit log of a room", (it) => {
  it.effect("has a line for each change of the room and of a participant, and who made it", () =>
    Effect.gen(function* () {
      const service = yield* Running
      const tenant = yield* Service.tenant(service)
      yield* tenant.paid
      const room = yield* Room.hosted(service, tenant, 1)
      const [, other] = (yield* room.find).participants
      const { id: member = "", leg_id: leg = "" } = other ?? {}
      const linesOf = (resource: string) =>
        Effect.map(service.ask(tenant.key, "GET", `/v1/audit?resource_id=${resource}`), ({ json }) =>
          (json as { readonly results: ReadonlyArray<Line> }).results.map(({ action, actor, changes }) => [
            action,
            actor.name ?? actor.type,
            ...changes.map(({ field, from, to }) => `${field} ${String(from)} ${String(to)}`)
          ])
        )

      expect((yield* room.post("/actions/update/", { max_participants: 7, beep_enabled: "always" })).status).toBe(200)
      expect((yield* room.post("/actions/update/", { max_participants: 7 })).status).toBe(200)
      const patched = yield* service.ask(tenant.key, "PATCH", `${room.path}/participants/${member}/`, {
        soft_end_on_exit: true
      })
      expect(patched.status).toBe(200)
      expect((yield* room.post("/actions/mute/", { leg_ids: [leg] })).status).toBe(200)
      yield* room.until(({ participants }) =>
        participants.some((each) => each.id === member && "is_muted" in each && each.is_muted === true)
      )
      expect((yield* room.post("/actions/end/")).status).toBe(200)

      // The newest comes first.
      expect(yield* linesOf(room.id)).toStrictEqual([
        ["conference.status_changed", "Default", "status in_progress completed"],
        ["conference.updated", "Default", "beep_enabled never always", "max_participants 10 7"],
        ["conference.status_changed", "system", "status init in_progress"],
        ["conference.created", "Default", "status null init"]
      ])
      expect(yield* linesOf(member)).toStrictEqual([
        ["conference_participant.status_changed", "Default", "status joined left"],
        ["conference_participant.updated", "system", "is_muted false true"],
        ["conference_participant.updated", "Default", "soft_end_on_exit false true"],
        ["conference_participant.status_changed", "system", "status joining joined"],
        ["conference_participant.created", "Default", "status null joining"]
      ])
    })
  )
})
