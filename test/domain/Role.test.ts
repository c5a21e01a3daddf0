import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Role from "../../src/domain/Role.ts"
import { endpointScopes, grants, scopes } from "../../src/domain/Scope.ts"

const role = Schema.Literals(Role.roles)
/** Keys of all kinds: a member's or without a member, with any scopes. */
const actor = Schema.Struct({ scopes: Schema.Array(Schema.Literals(scopes)), role: Schema.NullOr(role) })

describe("roles", () => {
  it("are names of scopes that there are", () => {
    for (const name of Role.roles)
      for (const scope of Role.scopesOf(name)) expect([...endpointScopes, "*"]).toContain(scope)
    expect(Role.scopesOf("king")).toEqual([])
  })

  it.prop(
    "leave a key what both it and the role allow",
    [Schema.Array(Schema.Literals(scopes)), role],
    ([held, name]) => {
      const left = Role.within(held, name)
      for (const scope of endpointScopes)
        expect(grants(left, scope)).toBe(grants(held, scope) && grants(Role.scopesOf(name), scope))
    }
  )

  it("let nobody touch an owner but owners, and keys of the workspace with all scopes", () => {
    for (const own of [null, ...Role.roles])
      expect([own, Role.covers({ role: own, scopes: ["*"] }, "owner")]).toEqual([own, own === null || own === "owner"])
    expect(Role.covers({ role: null, scopes: endpointScopes }, "owner")).toBe(false)
  })

  it.prop("let nobody climb: who is covered holds no more", [actor, role], ([{ role: own, scopes: held }, other]) => {
    const acting = { role: own, scopes: own === null ? held : Role.within(held, own) }
    if (!Role.covers(acting, other)) return
    for (const scope of endpointScopes)
      expect(grants(acting.scopes, scope) || !grants(Role.scopesOf(other), scope)).toBe(true)
  })
})
