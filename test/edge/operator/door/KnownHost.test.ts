import { expect, it } from "@effect/vitest"
import * as KnownHost from "../../../../src/edge/operator/door/KnownHost.ts"

const answered = ["localhost", "LOCALHOST:8081", "127.0.0.1:9000", "127.9.9.9", "[::1]:8081", "Metrics.lan:80"]
const refused = [
  "evil.example",
  "evil.example:8081",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "metrics.lan.evil.example",
  "localhost@evil.example",
  "203.0.113.7",
  "[2001:db8::1]",
  "0.0.0.0",
  "localhost, evil.example",
  ""
]

it("a request is answered under loopback addresses and the configured names, and under no other one", () => {
  const accepts = KnownHost.accepts(["metrics.lan"])
  expect(answered.filter((host) => !accepts(host))).toEqual([])
  expect(refused.filter(accepts)).toEqual([])
})
