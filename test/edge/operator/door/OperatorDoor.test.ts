import { describe, expect, it } from "@effect/vitest"
import { Effect, References } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as Command from "../../../../src/edge/operator/command/Command.ts"
import * as OperatorDoor from "../../../../src/edge/operator/door/OperatorDoor.ts"

const away = new SqlError({
  reason: new ConnectionError({ cause: new Error("away"), message: "away", operation: "connect" })
})

const asked = (defect: unknown) =>
  OperatorDoor.make({
    commands: [Command.make("tenant list", { summary: "", run: () => Effect.die(defect) })],
    accepts: () => true,
    nameOf: () => Effect.succeed(null),
    parse: () => Effect.succeed({})
  }).pipe(
    Effect.provideService(
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request("http://localhost/operator/tenant/list", { method: "POST", body: "{}" }))
    ),
    Effect.map(HttpServerResponse.toWeb),
    Effect.flatMap((answer) => Effect.promise(() => answer.json())),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

describe("The operator's door", () => {
  it.effect("says that the database is away where it is, and that we are at fault where we are", () =>
    Effect.gen(function* () {
      expect(yield* asked(away)).toMatchObject({ error: { code: "service_unavailable" } })
      expect(yield* asked(new Error("a bug"))).toMatchObject({ error: { code: "internal_error" } })
    })
  )
})
