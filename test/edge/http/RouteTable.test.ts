import { describe, expect, it } from "@effect/vitest"
import * as RouteTable from "../../../src/edge/http/RouteTable.ts"

const { methodsOf, shadowed } = RouteTable.make([
  { method: "GET", path: "/v1/things" },
  { method: "POST", path: "/v1/things/" },
  { method: "DELETE", path: "/v1/things/:id/" },
  { method: "GET", path: "/v1/things/special" },
  { method: "POST", path: "/v1/things/:id/actions/go" }
])

describe("RouteTable", () => {
  it("gathers the methods of a path over both slash forms, HEAD with GET, OPTIONS always", () => {
    expect(methodsOf("/v1/things")).toEqual(["GET", "HEAD", "OPTIONS", "POST"])
    expect(methodsOf("/v1/things/")).toEqual(["GET", "HEAD", "OPTIONS", "POST"])
  })

  it("takes any segment for a parameter, and a static segment before it", () => {
    expect(methodsOf("/v1/things/7")).toEqual(["DELETE", "OPTIONS"])
    expect(methodsOf("/v1/things/special")).toEqual(["GET", "HEAD", "OPTIONS"])
    expect(methodsOf("/v1/things/7/actions/go")).toEqual(["OPTIONS", "POST"])
  })

  it("lists what a parameter would take from a static path beside it", () => {
    expect(shadowed).toEqual([{ method: "DELETE", path: "/v1/things/special" }])
  })

  it("knows no methods of a path that is not there", () => {
    for (const path of ["/", "", "/v1", "/v1/things//", "/v1/things/7/actions", "/v1/things/7/actions/stop"])
      expect(methodsOf(path)).toEqual([])
  })
})
