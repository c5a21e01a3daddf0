import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf, layer as world, operator } from "../OperatorWorld.ts"

layer(world, { excludeTestServices: true })("signup invite, list and revoke (guide/operation.md#sign-up)", (it) => {
  it.effect("show the link once, list the invitation, and end it", () =>
    Effect.gen(function* () {
      const invited = jsonOf(yield* operator("signup", "invite", "ada@example.com", "--json"))
      expect(invited["url"]).toMatch(/^http:\/\/localhost:8080\/signup#[\w-]{43}$/)
      const listed = yield* operator("signup", "list")
      expect(listed.stdout).toContain("ada@example.com")
      expect(listed.stdout).not.toContain("#")
      const id = String(invited["id"])
      expect(jsonOf(yield* operator("signup", "revoke", id, "--json"))).toMatchObject({ id, status: "revoked" })
      expect((yield* operator("signup", "revoke", "00000000-0000-0000-0000-000000000000")).stderr).toContain(
        "not_found"
      )
      expect((yield* operator("signup", "invite", "no address")).stderr).toContain("must be an e-mail address")
    })
  )
})
