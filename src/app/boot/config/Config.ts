import type { S3Store } from "../../../ports/storage/s3/S3Storage.ts"
import { Redacted } from "effect"
import { isIP } from "node:net"
import * as Codecs from "../../../protocol/audio/codec/Codecs.ts"
import * as RingbackTone from "../../../protocol/audio/RingbackTone.ts"
import * as IpAddress from "../../../domain/network/IpAddress.ts"
import type { Address } from "../../../runtime/store/postgres/Address.ts"
import * as Database from "./DatabaseConfig.ts"
import * as Environment from "./Environment.ts"
import * as Mail from "./MailConfig.ts"
import { type SignupPolicy, signupPolicies } from "../../../tenancy/tenant/Tenant.ts"
import * as Payment from "./PaymentConfig.ts"
import * as Recognition from "./RecognitionConfig.ts"
import * as Recording from "./RecordingConfig.ts"
import * as Speech from "./SpeechConfig.ts"

/**
 * Configuration from the environment, each value with a default that works. A wrong value is one line that names it.
 */
export interface Config {
  readonly httpHost: string
  readonly httpPort: number
  /** How long a connection of the API may rest between two requests. */
  readonly httpKeepAliveSecs: number
  /** The URL without a trailing slash. */
  readonly baseUrl: string
  /** Null: the embedded Postgres under `dataDir` is used. */
  readonly database: Address | null
  readonly dataDir: string
  readonly sipHost: string
  readonly sipPort: number
  /** Our address in SIP and SDP, for each family that `sipHost` listens on. */
  readonly publicAddresses: IpAddress.Addresses
  readonly rtpPortMin: number
  readonly rtpPortMax: number
  /** The sockets for media packets: calls of the kernel where they are available, or sockets of Node. */
  readonly rtpIo: "kernel" | "node"
  /** The codecs for calls over SIP, in order of preference. */
  readonly sipCodecs: ReadonlyArray<Codecs.CodecName>
  /** The side whose order of codecs decides when a peer offers. */
  readonly sipCodecChoice: "ours" | "theirs"
  /** The country of the ring-back tone that a leg hears while it waits for another. */
  readonly ringbackCountry: RingbackTone.Country
  /** The reaction to strangers on the SIP port: one answer for each request, or none. */
  readonly sipStrangers: "answer" | "silent"
  /** Whether every visitor may sign up, only invited ones, or none. */
  readonly signup: SignupPolicy
  readonly signupCreditCents: number
  readonly signupLimitPerHour: number
  /** The proxies whose X-Forwarded-For counts: none, those with private addresses, or those in these networks. */
  readonly trustProxy: "none" | "private" | ReadonlyArray<string>
  readonly allowPrivateTargets: boolean
  readonly targetCaFile: string | null
  readonly maxCallSecs: number
  /** After how many days of failures a webhook endpoint is disabled; null: never. */
  readonly webhookDisableDays: number | null
  readonly drainSecs: number
  /** For how many days rows are kept: events with deliveries and journals, calls with audit lines. */
  readonly retentionDays: { readonly event: number; readonly call: number }
  /** After how many days recordings are archived, and when they expire. */
  readonly recordingDays: { readonly archive: number; readonly expire: number }
  /** Null: recordings are stored under `dataDir`. */
  readonly recordingStore: S3Store | null
  /** A speech server like OpenAI's; null: only the engines of this machine are used. */
  readonly speechServer: Speech.SpeechServer | null
  readonly recognition: Recognition.RecognitionConfig
  /** The server that takes letters; null: they go to the log. */
  readonly mailServer: Mail.MailServer | null
  readonly payment: Payment.PaymentConfig
  readonly operatorPort: number
  /** The names under which the operator's port answers, besides `localhost` and loopback addresses. */
  readonly operatorHosts: ReadonlyArray<string>
  readonly logLevel: "Trace" | "Debug" | "Info" | "Warn" | "Error" | "Fatal" | "None"
  readonly logFormat: "text" | "json"
  /** The file that the log is appended to; null: it goes to the standard error output. */
  readonly logFile: string | null
  /** 32 bytes in base64 or hex; null: the key is kept in `dataDir`. */
  readonly secretKey: Redacted.Redacted | null
  /** The keys that open texts from before a rotation of `secretKey`, until the rotation has ended. */
  readonly previousKeys: ReadonlyArray<Redacted.Redacted>
}

/** Reads one address for each family that a socket on `host` reaches, separated by a comma. */
const publicAddresses = (env: Environment.Environment, variable: string, host: string): IpAddress.Addresses => {
  const anywhere = { ipv4: "127.0.0.1", ipv6: "::1" }
  const reached = (["ipv4", "ipv6"] as const).filter((family) => IpAddress.reaches(host, family))
  const byDefault = reached.map((family) => (IpAddress.isUnspecified(host) ? anywhere[family] : host))
  const value = env.text(variable, byDefault.join())
  const found = value.split(",").map((each) => env.address(variable, each.trim()))
  const families = found.map(IpAddress.family).toSorted()
  if (families.join() !== reached.join() || found.some(IpAddress.isUnspecified)) {
    const wanted = reached.map((family) => (family === "ipv4" ? "an IPv4 address" : "an IPv6 address")).join(" and ")
    return Environment.fail(variable, `must be ${wanted} that peers can reach, as SIP_HOST is ${host}, not "${value}"`)
  }
  const of = (wanted: IpAddress.Family) => found.find((each) => IpAddress.family(each) === wanted) ?? null
  return { ipv4: of("ipv4"), ipv6: of("ipv6") }
}

/** Reads a URL that links begin with: they append a path to it. */
const baseUrl = (env: Environment.Environment, variable: string, otherwise: string): string => {
  const url = env.url(variable, otherwise, ["http:", "https:"])
  const { password, username } = new URL(url)
  return /[?#]/.test(url) || username !== "" || password !== ""
    ? Environment.fail(variable, "must be a URL without a query, a fragment or a user name: paths are appended to it")
    : url
}

/** Reads `false`, `true`, or addresses and CIDR networks separated by commas. */
const proxies = (env: Environment.Environment, variable: string): Config["trustProxy"] => {
  const value = env.text(variable, "false")
  if (value === "false") return "none"
  if (value === "true") return "private"
  const networks = value.split(",").map((network) => network.trim())
  const wrong = networks.find((network) => isIP(network.replace(/\/[0-9]{1,3}$/, "")) === 0)
  return wrong === undefined
    ? networks
    : Environment.fail(variable, `must be true, false, or addresses and networks, not "${wrong}"`)
}

const hosts = (env: Environment.Environment, variable: string): ReadonlyArray<string> => {
  const named = env
    .text(variable, "")
    .split(",")
    .map((name) => name.trim())
  const names = named.filter((name) => name !== "")
  const wrong = names.find((name) => !/^[a-z0-9._-]+$/i.test(name))
  return wrong === undefined
    ? names
    : Environment.fail(variable, `must be host names with commas, without a port, not "${wrong}"`)
}

const codecs = (env: Environment.Environment, variable: string): ReadonlyArray<Codecs.CodecName> => {
  const value = env.text(variable, Codecs.defaultOrder.join())
  const named = value.split(",").map((name) => name.trim().toUpperCase())
  const known = named.filter(Codecs.isName)
  return known.length === named.length && new Set(known).size === known.length
    ? known
    : Environment.fail(variable, `must be some of ${Codecs.names.join(", ")} with commas, each once, not "${value}"`)
}

/** Throws `ConfigInvalid` at the first wrong value. */
export const parse = (variables: Environment.Variables): Config => {
  const env = Environment.make(variables)
  const httpHost = env.text("HTTP_HOST", "127.0.0.1")
  const httpPort = env.integer("HTTP_PORT", 8080, 0, 65_535)
  const sipHost = env.address("SIP_HOST", env.text("SIP_HOST", "127.0.0.1"))
  const rtpPortMin = env.integer("RTP_PORT_MIN", 16_384, 1024, 65_534)
  const rtpPortMax = env.integer("RTP_PORT_MAX", 32_767, 1025, 65_535)
  if (rtpPortMax <= rtpPortMin)
    Environment.fail("RTP_PORT_MAX", `must be above RTP_PORT_MIN (${rtpPortMin}), not ${rtpPortMax}`)
  const reachable =
    httpHost === "0.0.0.0" || httpHost === "::" ? "localhost" : httpHost.includes(":") ? `[${httpHost}]` : httpHost
  if (!URL.canParse(`http://${reachable}`))
    Environment.fail("HTTP_HOST", `must be an address or a host name, not "${httpHost}"`)
  const eventDays = env.integer("EVENT_RETENTION_DAYS", 30, 3, 3_650)
  const callDays = env.integer("CALL_RETENTION_DAYS", 396, 3, 36_500)
  Environment.notBelow("CALL_RETENTION_DAYS", callDays, "EVENT_RETENTION_DAYS", eventDays)
  const archiveDays = env.integer("RECORDING_ARCHIVE_DAYS", 30, 1, 36_500)
  const expireDays = env.integer("RECORDING_RETENTION_DAYS", 90, 1, 36_500)
  Environment.notBelow("RECORDING_RETENTION_DAYS", expireDays, "RECORDING_ARCHIVE_DAYS", archiveDays)
  Environment.notBelow("CALL_RETENTION_DAYS", callDays, "RECORDING_RETENTION_DAYS", expireDays)
  const secretKey = env.optional("SECRET_KEY")
  if (secretKey !== null && keyBytes(secretKey) === null)
    Environment.fail("SECRET_KEY", "must be 32 bytes as 64 hex digits or as base64")
  const previousKeys = (env.optional("SECRET_KEY_PREVIOUS") ?? "").split(",").filter((key) => key !== "")
  if (!previousKeys.every((key) => keyBytes(key.trim()) !== null))
    Environment.fail("SECRET_KEY_PREVIOUS", "must be keys like SECRET_KEY, with commas")
  if (previousKeys.length > 0 && secretKey === null)
    Environment.fail(
      "SECRET_KEY_PREVIOUS",
      "needs a SECRET_KEY: a key that is kept in DATA_DIR has the ones before beside it"
    )
  return {
    httpHost,
    httpPort,
    httpKeepAliveSecs: env.integer("HTTP_KEEP_ALIVE_SECS", 65, 1, 3_600),
    baseUrl: baseUrl(env, "BASE_URL", `http://${reachable}:${httpPort}`),
    database: Database.address(env),
    dataDir: env.text("DATA_DIR", "data"),
    sipHost,
    sipPort: env.integer("SIP_PORT", 5060, 0, 65_535),
    publicAddresses: publicAddresses(env, "PUBLIC_ADDRESS", sipHost),
    rtpPortMin,
    rtpPortMax,
    rtpIo: env.oneOf("RTP_IO", "kernel", ["kernel", "node"]),
    sipCodecs: codecs(env, "SIP_CODECS"),
    sipCodecChoice: env.oneOf("SIP_CODEC_CHOICE", "ours", ["ours", "theirs"]),
    ringbackCountry: env.oneOf("RINGBACK_COUNTRY", RingbackTone.defaultCountry, RingbackTone.countries),
    sipStrangers: env.oneOf("SIP_STRANGERS", "answer", ["answer", "silent"]),
    signup: env.oneOf("SIGNUP", "open", signupPolicies),
    signupCreditCents: env.integer("SIGNUP_CREDIT_CENTS", 500, 0, 1_000_000),
    signupLimitPerHour: env.integer("SIGNUP_LIMIT_PER_HOUR", 5, 1, 1_000_000),
    trustProxy: proxies(env, "TRUST_PROXY"),
    allowPrivateTargets: env.flag("ALLOW_PRIVATE_TARGETS"),
    targetCaFile: env.optional("TARGET_CA_FILE"),
    maxCallSecs: env.integer("MAX_CALL_SECS", 14_400, 1, 86_400),
    webhookDisableDays: env.integer("WEBHOOK_DISABLE_DAYS", 5, 0, 365) || null,
    drainSecs: env.integer("DRAIN_SECS", 30, 0, 86_400),
    retentionDays: { event: eventDays, call: callDays },
    recordingDays: { archive: archiveDays, expire: expireDays },
    recordingStore: Recording.store(env),
    speechServer: Speech.server(env),
    recognition: Recognition.read(env),
    mailServer: Mail.server(env),
    payment: Payment.read(env),
    operatorPort: env.integer("OPERATOR_PORT", 8081, 0, 65_535),
    operatorHosts: hosts(env, "OPERATOR_HOSTS"),
    logLevel: env.oneOf("LOG_LEVEL", "Info", ["Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None"]),
    logFormat: env.oneOf("LOG_FORMAT", "text", ["text", "json"]),
    logFile: env.optional("LOG_FILE"),
    secretKey: secretKey === null ? null : Redacted.make(secretKey),
    previousKeys: previousKeys.map((key) => Redacted.make(key))
  }
}

/** Reads 32 bytes from hex or base64; null when the text is neither. */
export const keyBytes = (text: string): Uint8Array | null => {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64")
  return bytes.length === 32 ? new Uint8Array(bytes) : null
}
