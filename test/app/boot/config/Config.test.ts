import { describe, expect, it } from "@effect/vitest"
import * as Config from "../../../../src/app/boot/config/Config.ts"
import * as Environment from "../../../../src/app/boot/config/Environment.ts"

describe("Configuration", () => {
  it("has a default for everything", () => {
    const config = Config.parse({})
    expect(config.baseUrl).toBe("http://127.0.0.1:8080")
    expect(config.database).toBeNull()
    expect([config.sipHost, config.sipPort, config.publicAddresses]).toStrictEqual([
      "127.0.0.1",
      5060,
      { ipv4: "127.0.0.1", ipv6: null }
    ])
    expect([config.signupCreditCents, config.signupLimitPerHour, config.maxCallSecs]).toStrictEqual([500, 5, 14_400])
    expect(config.allowPrivateTargets).toBe(false)
  })

  it("keeps calls at least as long as their events", () => {
    expect(Config.parse({}).retentionDays).toStrictEqual({ event: 30, call: 396 })
    expect(() => Config.parse({ EVENT_RETENTION_DAYS: "60", CALL_RETENTION_DAYS: "59" })).toThrow(
      "CALL_RETENTION_DAYS must not be below EVENT_RETENTION_DAYS (60), but is 59"
    )
  })

  it("reads an empty value as none", () => expect(Config.parse({ HTTP_PORT: "" }).httpPort).toBe(8080))

  it("names the address that others can use when it listens on all", () =>
    expect(Config.parse({ HTTP_HOST: "0.0.0.0", HTTP_PORT: "81" }).baseUrl).toBe("http://localhost:81"))

  it("takes further names of the operator's port", () => {
    expect(Config.parse({}).operatorHosts).toEqual([])
    expect(Config.parse({ OPERATOR_HOSTS: "metrics.lan, ops" }).operatorHosts).toEqual(["metrics.lan", "ops"])
    expect(() => Config.parse({ OPERATOR_HOSTS: "metrics.lan:8081" })).toThrow(/OPERATOR_HOSTS must be host names/)
  })

  it("takes networks as trusted proxies", () =>
    expect(Config.parse({ TRUST_PROXY: "10.0.0.0/8, 127.0.0.1" }).trustProxy).toStrictEqual([
      "10.0.0.0/8",
      "127.0.0.1"
    ]))

  const hosts: ReadonlyArray<readonly [host: string, announced: string, ipv4: string | null, ipv6: string | null]> = [
    ["0.0.0.0", "", "127.0.0.1", null],
    ["0.0.0.0", "203.0.113.5", "203.0.113.5", null],
    ["::1", "", null, "::1"],
    ["2001:DB8:0:0::5", "", null, "2001:db8::5"],
    ["2001:db8::5", "2001:db8::9", null, "2001:db8::9"],
    ["::", "", "127.0.0.1", "::1"],
    ["::", "2001:db8::9, 203.0.113.5", "203.0.113.5", "2001:db8::9"],
    ["::ffff:192.0.2.1", "", "192.0.2.1", null]
  ]
  for (const [host, announced, ipv4, ipv6] of hosts)
    it(`announces ${ipv4 ?? "no IPv4"} and ${ipv6 ?? "no IPv6"} on ${host} with PUBLIC_ADDRESS "${announced}"`, () => {
      const config = Config.parse({ SIP_HOST: host, PUBLIC_ADDRESS: announced })
      expect(config.publicAddresses).toStrictEqual({ ipv4, ipv6 })
    })

  const unannounced: ReadonlyArray<readonly [host: string, announced: string]> = [
    ["0.0.0.0", "2001:db8::9"],
    ["::1", "127.0.0.1"],
    ["::", "203.0.113.5"],
    ["::", "2001:db8::9"],
    ["::", "203.0.113.5,203.0.113.6"],
    ["127.0.0.1", "203.0.113.5,2001:db8::9"],
    ["0.0.0.0", "0.0.0.0"],
    ["::", "::,0.0.0.0"]
  ]
  for (const [host, announced] of unannounced)
    it(`refuses PUBLIC_ADDRESS=${announced} where SIP_HOST is ${host}, in one line`, () =>
      expect(() => Config.parse({ SIP_HOST: host, PUBLIC_ADDRESS: announced })).toThrow(
        /^PUBLIC_ADDRESS must be an IPv[46] address( and an IPv6 address)? that peers can reach, as SIP_HOST is [^\n]+$/
      ))
  it("takes codecs in the order of wanting them, whatever their case; by default the wide one that costs least first", () => {
    expect(Config.parse({}).sipCodecs).toEqual(["G722", "PCMU", "PCMA", "OPUS"])
    expect(Config.parse({ SIP_CODECS: "g722, PCMA" }).sipCodecs).toEqual(["G722", "PCMA"])
  })

  const speechServer = { TTS_URL: "https://api.openai.com/v1/" }

  it("takes a speech server like OpenAI's, and no key where it wants none", () => {
    expect(Config.parse({}).speechServer).toBeNull()
    expect(Config.parse(speechServer).speechServer).toMatchObject({
      apiKey: null,
      model: "tts-1",
      voices: [
        { name: "alloy", gender: null },
        { name: "onyx", gender: "male" },
        { name: "nova", gender: "female" }
      ],
      format: { type: "pcm", rate: 24_000 }
    })
    expect(Config.parse({ ...speechServer, TTS_FORMAT: "wav", TTS_VOICES: "af_sky" }).speechServer).toMatchObject({
      voices: [{ name: "af_sky", language: null, gender: null }],
      format: { type: "wav" }
    })
  })

  it("takes engines that recognize speech, each with a model of its own", () => {
    expect(Config.parse({}).recognition).toStrictEqual({
      deepgram: null,
      vosk: null,
      openai: null,
      chosen: { fast: null, accurate: null }
    })
    const { chosen, deepgram, openai, vosk } = Config.parse({
      STT_DEEPGRAM_API_KEY: "secret",
      STT_VOSK_URL: "ws://127.0.0.1:2700",
      STT_OPENAI_URL: "http://127.0.0.1:8000/v1",
      STT_FAST: "vosk",
      STT_ACCURATE: "openai:Systran/faster-whisper-small"
    }).recognition
    expect(chosen).toStrictEqual({
      fast: { engine: "vosk", model: null },
      accurate: { engine: "openai", model: "Systran/faster-whisper-small" }
    })
    expect([deepgram === null, vosk === null, openai?.apiKey]).toEqual([false, false, null])
    expect(JSON.stringify(deepgram)).not.toContain("secret")
  })

  const wrong: ReadonlyArray<readonly [string, string]> = [
    ["HTTP_HOST", "999.1.1.1"],
    ["HTTP_HOST", "http://localhost"],
    ["HTTP_PORT", "http"],
    ["HTTP_PORT", "70000"],
    ["HTTP_PORT", "-1"],
    ["BASE_URL", "example.com"],
    ["BASE_URL", "ftp://example.com"],
    ["BASE_URL", "https://example.com/?a=b"],
    ["BASE_URL", "https://example.com/#a"],
    ["BASE_URL", "https://user:secret@example.com"],
    ["HTTP_KEEP_ALIVE_SECS", "0"],
    ["HTTP_KEEP_ALIVE_SECS", "3601"],
    ["DATABASE_URL", "mysql://x"],
    ["SIP_HOST", "localhost"],
    ["SIP_HOST", "fe80::1%eth0"],
    ["SIP_HOST", "[::1]"],
    ["PUBLIC_ADDRESS", "sip.example.com"],
    ["RTP_PORT_MIN", "80"],
    ["RTP_PORT_MAX", "16384"],
    ["RTP_IO", "dgram"],
    ["SIP_CODECS", "PCMU,SPEEX"],
    ["SIP_CODECS", "PCMU,pcmu"],
    ["SIP_CODECS", "PCMU,"],
    ["SIGNUP", "maybe"],
    ["SIGNUP_CREDIT_CENTS", "1.5"],
    ["TRUST_PROXY", "yes"],
    ["ALLOW_PRIVATE_TARGETS", "1"],
    ["MAX_CALL_SECS", "0"],
    ["WEBHOOK_DISABLE_DAYS", "366"],
    ["LOG_LEVEL", "loud"],
    ["LOG_FORMAT", "xml"],
    ["SECRET_KEY", "short"],
    ["RECORDING_STORE", "s3://bucket"],
    ["RECORDING_STORE", "https://s3.example.com/bucket"],
    ["RECORDING_STORE_CA_FILE", "/is/not/there.pem"],
    ["TTS_URL", "api.openai.com"],
    ["TTS_URL", "wss://api.openai.com/v1"],
    ["TTS_URL", "https://api.openai.com/v1?key=secret"],
    ["TTS_VOICES", "alloy,"],
    ["TTS_VOICES", "alloy=neuter"],
    ["TTS_FORMAT", "mp3"],
    ["TTS_RATE", "96000"],
    ["STT_FAST", "whisper"],
    ["STT_FAST", "vosk"],
    ["STT_FAST", "pocketsphinx:"],
    ["STT_ACCURATE", "deepgram:nova-3"],
    ["STT_ACCURATE", "openai"],
    ["STT_DEEPGRAM_URL", "https://api.deepgram.com"],
    ["STT_VOSK_URL", "127.0.0.1:2700"],
    ["STT_OPENAI_URL", "wss://api.openai.com/v1"],
    ["SMTP_URL", "mail.example.com"],
    ["SMTP_URL", "https://mail.example.com"],
    ["SMTP_URL", "smtp://user:password@mail.example.com"],
    ["SMTP_URL", "smtp://mail.example.com"],
    ["MAIL_FROM", "a@example.com, b@example.com"],
    ["MAIL_FROM", "nobody"],
    ["SMTP_TLS", "never"],
    ["SMTP_TLS", "optional"]
  ]
  const mailServer = { SMTP_URL: "smtp://mail.example.com", MAIL_FROM: "Phone <a@example.com>" }
  const beside: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    RECORDING_STORE_CA_FILE: { RECORDING_STORE: "https://s3.example.com/bucket" },
    MAIL_FROM: { SMTP_URL: "smtp://mail.example.com" },
    SMTP_TLS: { ...mailServer, SMTP_USER: "u", SMTP_PASSWORD: "p" },
    TTS_VOICES: speechServer,
    TTS_FORMAT: speechServer,
    TTS_RATE: speechServer
  }
  for (const [variable, value] of wrong)
    it(`refuses ${variable}=${value} and names it in one line`, () => {
      try {
        Config.parse({ ...beside[variable], [variable]: value })
        expect.unreachable("it was accepted")
      } catch (error) {
        expect(error).toBeInstanceOf(Environment.ConfigInvalid)
        expect(error instanceof Error ? error.message : "").toMatch(new RegExp(`^${variable} [^\n]+$`))
      }
    })

  it("takes a mail server with its name, address and login, and none without SMTP_URL", () => {
    const { mailServer: server } = Config.parse({ ...mailServer, SMTP_USER: "u", SMTP_PASSWORD: "p" })
    expect(server).toMatchObject({ from: { name: "Phone", address: "a@example.com" }, requiresTls: true })
    expect(server?.login?.user).toBe("u")
    expect(Config.parse({ MAIL_FROM: "a@example.com" }).mailServer).toBe(null)
    expect(Config.parse({ ...mailServer, MAIL_FROM: "a@example.com", SMTP_TLS: "optional" }).mailServer).toMatchObject({
      from: { name: "", address: "a@example.com" },
      login: null,
      requiresTls: false
    })
  })
})
