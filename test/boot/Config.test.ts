import { assert, describe, it } from "@effect/vitest"
import * as Config from "../../src/boot/Config.ts"

describe("Configuration", () => {
  it("has a default for everything", () => {
    const config = Config.parse({})
    assert.strictEqual(config.baseUrl, "http://127.0.0.1:8080")
    assert.strictEqual(config.databaseUrl, null)
    assert.deepStrictEqual([config.sipHost, config.sipPort, config.publicAddress], ["127.0.0.1", 5060, "127.0.0.1"])
    assert.deepStrictEqual([config.signupCreditCents, config.signupLimitPerHour, config.maxCallSecs], [500, 5, 14_400])
    assert.isFalse(config.allowPrivateTargets)
  })

  it("reads an empty value as none", () => assert.strictEqual(Config.parse({ HTTP_PORT: "" }).httpPort, 8080))

  it("names the address that others can use when it listens on all", () =>
    assert.strictEqual(Config.parse({ HTTP_HOST: "0.0.0.0", HTTP_PORT: "81" }).baseUrl, "http://localhost:81"))

  it("takes networks as trusted proxies", () =>
    assert.deepStrictEqual(Config.parse({ TRUST_PROXY: "10.0.0.0/8, 127.0.0.1" }).trustProxy, [
      "10.0.0.0/8",
      "127.0.0.1"
    ]))

  const wrong: ReadonlyArray<readonly [string, string]> = [
    ["HTTP_HOST", "999.1.1.1"],
    ["HTTP_HOST", "http://localhost"],
    ["HTTP_PORT", "http"],
    ["HTTP_PORT", "70000"],
    ["HTTP_PORT", "-1"],
    ["BASE_URL", "example.com"],
    ["BASE_URL", "ftp://example.com"],
    ["DATABASE_URL", "mysql://x"],
    ["SIP_HOST", "localhost"],
    ["PUBLIC_ADDRESS", "sip.example.com"],
    ["RTP_PORT_MIN", "80"],
    ["RTP_PORT_MAX", "16384"],
    ["SIGNUP_CREDIT_CENTS", "1.5"],
    ["TRUST_PROXY", "yes"],
    ["ALLOW_PRIVATE_TARGETS", "1"],
    ["MAX_CALL_SECS", "0"],
    ["LOG_LEVEL", "loud"],
    ["LOG_FORMAT", "xml"],
    ["SECRET_KEY", "short"]
  ]
  for (const [variable, value] of wrong)
    it(`refuses ${variable}=${value} and names it in one line`, () => {
      try {
        Config.parse({ [variable]: value })
        assert.fail("it was accepted")
      } catch (error) {
        assert.instanceOf(error, Config.ConfigInvalid)
        assert.match(error instanceof Error ? error.message : "", new RegExp(`^${variable} [^\n]+$`))
      }
    })
})
