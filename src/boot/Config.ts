import { Data, Redacted, Result } from "effect"
import { readFileSync } from "node:fs"
import { isIP } from "node:net"
import * as Codecs from "../audio/codec/Codecs.ts"
import * as RingbackTone from "../audio/RingbackTone.ts"
import * as IpAddress from "../domain/IpAddress.ts"
import { OperatorTarget } from "../egress/OperatorTarget.ts"

import * as Recognition from "./RecognitionConfig.ts"

/**
 * Configuration from the environment, each value with a default that works. A wrong value is one line that names it.
 */
export interface Config {
  readonly httpHost: string
  readonly httpPort: number
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** Null: the embedded Postgres under `dataDir`. */
  readonly databaseUrl: Redacted.Redacted | null
  readonly dataDir: string
  readonly sipHost: string
  readonly sipPort: number
  /** What SIP and SDP name as our address, for each family that `sipHost` listens on. */
  readonly publicAddresses: IpAddress.Addresses
  readonly rtpPortMin: number
  readonly rtpPortMax: number
  /** What calls over SIP may be in, most wanted first. */
  readonly sipCodecs: ReadonlyArray<Codecs.CodecName>
  /** Whose ring-back tone a leg hears that waits for another. */
  readonly ringbackCountry: RingbackTone.Country
  /** What a stranger on the SIP port hears: one answer for a request, or nothing. */
  readonly sipStrangers: "answer" | "silent"
  readonly signupCreditCents: number
  readonly signupLimitPerHour: number
  /** Whose X-Forwarded-For counts: nobody's, that of private addresses, or that of these networks. */
  readonly trustProxy: "none" | "private" | ReadonlyArray<string>
  readonly allowPrivateTargets: boolean
  readonly targetCaFile: string | null
  readonly maxCallSecs: number
  /** A webhook endpoint that has failed for so many days is disabled; null: none is. */
  readonly webhookDisableDays: number | null
  readonly drainSecs: number
  /** How many days are kept: events with deliveries and journals, calls with audit lines. */
  readonly retentionDays: { readonly event: number; readonly call: number }
  /** After how many days recordings are archived, and when they expire. */
  readonly recordingDays: { readonly archive: number; readonly expire: number }
  /** Null: recordings are stored under `dataDir`. */
  readonly recordingStore: RecordingStore | null
  /** A speech server like OpenAI's; null: the engines of this machine only. */
  readonly speechServer: SpeechServer | null
  readonly recognition: Recognition.RecognitionConfig
  readonly operatorPort: number
  readonly logLevel: "Trace" | "Debug" | "Info" | "Warn" | "Error" | "Fatal" | "None"
  readonly logFormat: "text" | "json"
  /** Base64 or hex of 32 bytes; null: kept in `dataDir`. */
  /** Null: kept in `dataDir`. */
  readonly secretKey: Redacted.Redacted | null
  /** They open what was sealed before a rotation of `secretKey` has ended. */
  readonly previousKeys: ReadonlyArray<Redacted.Redacted>
}

/** A bucket of a store that speaks the protocol of Amazon S3. */
export interface RecordingStore {
  readonly target: OperatorTarget
  /** As requests name it. */
  readonly host: string
  /** Of the bucket and what comes behind it, without a slash at the end. */
  readonly path: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
}

export interface SpeechServer {
  readonly target: OperatorTarget
  readonly apiKey: Redacted.Redacted | null
  readonly model: string
  readonly voices: ReadonlyArray<{
    readonly name: string
    readonly language: string | null
    readonly gender: "male" | "female" | null
  }>
  readonly format: { readonly type: "pcm"; readonly rate: number } | { readonly type: "wav" }
}

export class ConfigInvalid extends Data.TaggedError("ConfigInvalid")<{
  readonly variable: string
  readonly detail: string
}> {
  override get message() {
    return `${this.variable} ${this.detail}`
  }
}

type Environment = Readonly<Record<string, string | undefined>>

const fail = (variable: string, detail: string): never => {
  throw new ConfigInvalid({ variable, detail })
}

const read = (environment: Environment) => {
  const text = (variable: string, otherwise: string): string => {
    const value = environment[variable]
    return value === undefined || value === "" ? otherwise : value
  }
  const optional = (variable: string): string | null => text(variable, "") || null
  const integer = (variable: string, otherwise: number, min: number, max: number): number => {
    const value = text(variable, String(otherwise))
    if (!/^[0-9]+$/.test(value) || Number(value) < min || Number(value) > max)
      return fail(variable, `must be a whole number from ${min} to ${max}, not "${value}"`)
    return Number(value)
  }
  const flag = (variable: string): boolean => {
    const value = text(variable, "false")
    if (value !== "true" && value !== "false") return fail(variable, `must be true or false, not "${value}"`)
    return value === "true"
  }
  const oneOf = <const Value extends string>(
    variable: string,
    otherwise: Value,
    values: ReadonlyArray<Value>
  ): Value => {
    const value = text(variable, otherwise)
    return (
      values.find((candidate) => candidate.toLowerCase() === value.toLowerCase()) ??
      fail(variable, `must be one of ${values.join(", ")}, not "${value}"`)
    )
  }
  /** In its one spelling; no zone, which is of this machine only. */
  const address = (variable: string, value: string): string =>
    value.includes("%") ? notAddress(variable, value) : (IpAddress.canonical(value) ?? notAddress(variable, value))
  const notAddress = (variable: string, value: string) => fail(variable, `must be an IP address, not "${value}"`)
  /** One for each family that a socket on `host` reaches, with a comma between two. */
  const publicAddresses = (variable: string, host: string): IpAddress.Addresses => {
    const anywhere = { ipv4: "127.0.0.1", ipv6: "::1" }
    const reached = (["ipv4", "ipv6"] as const).filter((family) => IpAddress.reaches(host, family))
    const byDefault = reached.map((family) => (IpAddress.isUnspecified(host) ? anywhere[family] : host))
    const value = text(variable, byDefault.join())
    const found = value.split(",").map((each) => address(variable, each.trim()))
    const families = found.map(IpAddress.family).toSorted()
    if (families.join() !== reached.join() || found.some(IpAddress.isUnspecified)) {
      const wanted = reached.map((family) => (family === "ipv4" ? "an IPv4 address" : "an IPv6 address")).join(" and ")
      return fail(variable, `must be ${wanted} that peers can reach, as SIP_HOST is ${host}, not "${value}"`)
    }
    const of = (wanted: IpAddress.Family) => found.find((each) => IpAddress.family(each) === wanted) ?? null
    return { ipv4: of("ipv4"), ipv6: of("ipv6") }
  }
  const url = (variable: string, otherwise: string, protocols: ReadonlyArray<string>): string => {
    const value = text(variable, otherwise)
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol))
      return fail(
        variable,
        `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`
      )
    return value.replace(/\/+$/, "")
  }
  /** `false`, `true`, or addresses and CIDR networks with commas. */
  const proxies = (variable: string): Config["trustProxy"] => {
    const value = text(variable, "false")
    if (value === "false") return "none"
    if (value === "true") return "private"
    const networks = value.split(",").map((network) => network.trim())
    const wrong = networks.find((network) => isIP(network.replace(/\/[0-9]{1,3}$/, "")) === 0)
    return wrong === undefined
      ? networks
      : fail(variable, `must be true, false, or addresses and networks, not "${wrong}"`)
  }
  const codecs = (variable: string): ReadonlyArray<Codecs.CodecName> => {
    const value = text(variable, Codecs.defaultOrder.join())
    const named = value.split(",").map((name) => name.trim().toUpperCase())
    const known = named.filter(Codecs.isName)
    return known.length === named.length && new Set(known).size === known.length
      ? known
      : fail(variable, `must be some of ${Codecs.names.join(", ")} with commas, each once, not "${value}"`)
  }
  const store = (variable: string): RecordingStore | null => {
    const url = optional(variable)
    if (url === null) return null
    const [file, accessKeyId, secretAccessKey] = [
      optional("RECORDING_STORE_CA_FILE"),
      optional("S3_ACCESS_KEY_ID"),
      optional("S3_SECRET_ACCESS_KEY")
    ]
    if (accessKeyId === null || secretAccessKey === null)
      return fail(variable, "needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY")
    const target = OperatorTarget.configured(url, {
      plain: true,
      ...(file === null ? {} : { authorities: certificates("RECORDING_STORE_CA_FILE", file) })
    })
    if (Result.isFailure(target)) return fail(variable, target.failure)
    const { host, pathname, protocol } = new URL(url)
    if (protocol !== "https:" && protocol !== "http:") return fail(variable, "must begin with https:// or http://")
    const path = pathname.replace(/\/+$/, "")
    if (path === "") return fail(variable, "must name the bucket: https://host/bucket")
    return {
      target: target.success,
      host,
      path,
      region: text("S3_REGION", "us-east-1"),
      accessKeyId,
      secretAccessKey: Redacted.make(secretAccessKey)
    }
  }
  const certificates = (variable: string, file: string): string => {
    try {
      return readFileSync(file, "utf8")
    } catch (error) {
      return fail(variable, `cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  /** A service of the operator's own, which may be private and without TLS. */
  const service = (variable: string): OperatorTarget | null => {
    const value = optional(variable)
    if (value === null) return null
    return Result.match(OperatorTarget.configured(value, { plain: true }), {
      onSuccess: (target) => target,
      onFailure: (fault) => fail(variable, fault)
    })
  }
  /** Names with commas, each with its gender behind `=` where it has one. */
  const voices = (variable: string, otherwise: string): SpeechServer["voices"] => {
    const value = text(variable, otherwise)
    return value.split(",").map((voice) => {
      const [, name, gender] = /^([A-Za-z0-9_.:+-]{1,64})(?:=(male|female))?$/.exec(voice.trim()) ?? []
      if (name === undefined)
        return fail(variable, `must be names with commas, each with =male or =female if you like, not "${value}"`)
      return { name, language: null, gender: gender === "male" || gender === "female" ? gender : null }
    })
  }
  return {
    service,
    voices,
    codecs,
    store,
    text,
    optional,
    integer,
    flag,
    oneOf,
    address,
    publicAddresses,
    url,
    proxies
  }
}

/** Throws `ConfigInvalid` at the first wrong value. */
export const parse = (environment: Environment): Config => {
  const env = read(environment)
  const httpHost = env.text("HTTP_HOST", "127.0.0.1")
  const httpPort = env.integer("HTTP_PORT", 8080, 0, 65_535)
  const sipHost = env.address("SIP_HOST", env.text("SIP_HOST", "127.0.0.1"))
  const rtpPortMin = env.integer("RTP_PORT_MIN", 16_384, 1024, 65_534)
  const rtpPortMax = env.integer("RTP_PORT_MAX", 32_767, 1025, 65_535)
  if (rtpPortMax <= rtpPortMin) fail("RTP_PORT_MAX", `must be above RTP_PORT_MIN (${rtpPortMin}), not ${rtpPortMax}`)
  const reachable =
    httpHost === "0.0.0.0" || httpHost === "::" ? "localhost" : httpHost.includes(":") ? `[${httpHost}]` : httpHost
  if (!URL.canParse(`http://${reachable}`)) fail("HTTP_HOST", `must be an address or a host name, not "${httpHost}"`)
  const eventDays = env.integer("EVENT_RETENTION_DAYS", 30, 3, 3_650)
  const callDays = env.integer("CALL_RETENTION_DAYS", 396, 3, 36_500)
  if (callDays < eventDays)
    fail("CALL_RETENTION_DAYS", `must not be below EVENT_RETENTION_DAYS (${eventDays}), but is ${callDays}`)
  const archiveDays = env.integer("RECORDING_ARCHIVE_DAYS", 30, 1, 36_500)
  const expireDays = env.integer("RECORDING_RETENTION_DAYS", 90, 1, 36_500)
  if (expireDays < archiveDays)
    fail("RECORDING_RETENTION_DAYS", `must not be below RECORDING_ARCHIVE_DAYS (${archiveDays}), but is ${expireDays}`)
  if (callDays < expireDays)
    fail("CALL_RETENTION_DAYS", `must not be below RECORDING_RETENTION_DAYS (${expireDays}), but is ${callDays}`)
  const databaseUrl = env.optional("DATABASE_URL")
  if (databaseUrl !== null) env.url("DATABASE_URL", "", ["postgres:", "postgresql:"])
  const secretKey = env.optional("SECRET_KEY")
  if (secretKey !== null && keyBytes(secretKey) === null)
    fail("SECRET_KEY", "must be 32 bytes as 64 hex digits or as base64")
  const previousKeys = (env.optional("SECRET_KEY_PREVIOUS") ?? "").split(",").filter((key) => key !== "")
  if (!previousKeys.every((key) => keyBytes(key.trim()) !== null))
    fail("SECRET_KEY_PREVIOUS", "must be keys like SECRET_KEY, with commas")
  if (previousKeys.length > 0 && secretKey === null)
    fail("SECRET_KEY_PREVIOUS", "needs a SECRET_KEY: a key that is kept in DATA_DIR has the ones before beside it")
  return {
    httpHost,
    httpPort,
    baseUrl: env.url("BASE_URL", `http://${reachable}:${httpPort}`, ["http:", "https:"]),
    databaseUrl: databaseUrl === null ? null : Redacted.make(databaseUrl),
    dataDir: env.text("DATA_DIR", "data"),
    sipHost,
    sipPort: env.integer("SIP_PORT", 5060, 0, 65_535),
    publicAddresses: env.publicAddresses("PUBLIC_ADDRESS", sipHost),
    rtpPortMin,
    rtpPortMax,
    sipCodecs: env.codecs("SIP_CODECS"),
    ringbackCountry: env.oneOf("RINGBACK_COUNTRY", RingbackTone.defaultCountry, RingbackTone.countries),
    sipStrangers: env.oneOf("SIP_STRANGERS", "answer", ["answer", "silent"]),
    signupCreditCents: env.integer("SIGNUP_CREDIT_CENTS", 500, 0, 1_000_000),
    signupLimitPerHour: env.integer("SIGNUP_LIMIT_PER_HOUR", 5, 1, 1_000_000),
    trustProxy: env.proxies("TRUST_PROXY"),
    allowPrivateTargets: env.flag("ALLOW_PRIVATE_TARGETS"),
    targetCaFile: env.optional("TARGET_CA_FILE"),
    maxCallSecs: env.integer("MAX_CALL_SECS", 14_400, 1, 86_400),
    webhookDisableDays: env.integer("WEBHOOK_DISABLE_DAYS", 5, 0, 365) || null,
    drainSecs: env.integer("DRAIN_SECS", 30, 0, 86_400),
    retentionDays: { event: eventDays, call: callDays },
    recordingDays: { archive: archiveDays, expire: expireDays },
    recordingStore: env.store("RECORDING_STORE"),
    speechServer: speechServer(env),
    recognition: Recognition.read({ ...env, fail }),
    operatorPort: env.integer("OPERATOR_PORT", 8081, 0, 65_535),
    logLevel: env.oneOf("LOG_LEVEL", "Info", ["Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None"]),
    logFormat: env.oneOf("LOG_FORMAT", "text", ["text", "json"]),
    secretKey: secretKey === null ? null : Redacted.make(secretKey),
    previousKeys: previousKeys.map((key) => Redacted.make(key))
  }
}

const speechServer = (env: ReturnType<typeof read>): SpeechServer | null => {
  const target = env.service("TTS_URL")
  if (target === null) return null
  const apiKey = env.optional("TTS_API_KEY")
  const type = env.oneOf("TTS_FORMAT", "pcm", ["pcm", "wav"])
  return {
    target,
    apiKey: apiKey === null ? null : Redacted.make(apiKey),
    model: env.text("TTS_MODEL", "tts-1"),
    voices: env.voices("TTS_VOICES", "alloy,onyx=male,nova=female"),
    format: type === "wav" ? { type } : { type, rate: env.integer("TTS_RATE", 24_000, 8_000, 48_000) }
  }
}

/** 32 bytes out of hex or base64; null when it is neither. */
export const keyBytes = (text: string): Uint8Array | null => {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64")
  return bytes.length === 32 ? new Uint8Array(bytes) : null
}
