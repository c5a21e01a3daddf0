import { Redacted } from "effect"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { type ConnectionOptions, createSecureContext } from "node:tls"
import type { Address } from "../../../runtime/store/postgres/Address.ts"
import * as Environment from "./Environment.ts"

/** The parts of the URL that the driver does not read. Certificates and the key are paths of files. */
interface DatabaseUrl {
  readonly sslmode: SslMode | null
  readonly rootCertificates: string | null
  readonly certificate: string | null
  readonly key: string | null
  readonly passphrase: string | null
  readonly connectTimeoutSecs: number | null
  readonly applicationName: string | null
}

type SslMode = (typeof sslModes)[number]
const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const

const fail = (detail: string): never => Environment.fail("DATABASE_URL", detail)

/** Parameters that the driver reads as they are. */
const readByDriver = ["host", "port", "user", "password", "dbname", "options"]

/** Parameters of libpq with the values that change nothing here. */
const harmless: Readonly<Record<string, ReadonlyArray<string>>> = {
  channel_binding: ["disable", "prefer"],
  client_encoding: ["utf8", "utf-8"],
  gssencmode: ["disable", "prefer"],
  load_balance_hosts: ["disable"],
  sslnegotiation: ["postgres"],
  target_session_attrs: ["any", "read-write", "primary"]
}

/** The advice for parameters of other programs. */
const instead: Readonly<Record<string, string>> = {
  schema:
    "the schema is the first of the role's search_path: ALTER ROLE … SET search_path, or options=-csearch_path%3D…",
  currentSchema:
    "the schema is the first of the role's search_path: ALTER ROLE … SET search_path, or options=-csearch_path%3D…",
  ssl: "write sslmode=verify-full or sslmode=disable",
  sslcrl: "revoked certificates are not looked up",
  pgbouncer: "remove it; PgBouncer needs pool_mode = session"
}

/** Reads the parts of `DATABASE_URL` that the driver does not. Throws `ConfigInvalid` for what no part of us reads. */
export const parse = (text: string): DatabaseUrl => {
  const [, authority = "", path = "", query = ""] =
    /^postgres(?:ql)?:\/\/([^/?#]*)([^?#]*)(\?[^#]*)?/i.exec(text.trim()) ??
    fail("must be a URL that begins with postgres:// or postgresql://")
  if (text.includes("#")) fail(`holds "#", which ends a URL: write it as %23, also in a password`)
  if (!authority.includes("@") && (path.includes("@") || /^\?[^=&]*@/.test(query)))
    fail(`has "/" or "?" in its user or password: write them as %2F and %3F`)
  if (/%(?![0-9a-f]{2})/i.test(text)) fail(`holds "%" without two hex digits: write it as %25, also in a password`)
  const hosts = authority.slice(authority.lastIndexOf("@") + 1)
  if (hosts.includes(",")) fail(severalHosts)
  if (!URL.canParse(text)) fail(`is not a URL: the part between "@" and the next "/" must be a host, or host:port`)
  const url = new URL(text)
  if (url.port === "0") fail("has the port 0")
  const given = new Map<string, string>()
  for (const [name, value] of url.searchParams) {
    if (given.has(name)) fail(`has the parameter "${name}" twice`)
    given.set(name, value)
  }
  const taken = (name: string): string | null => {
    const value = given.get(name) ?? null
    given.delete(name)
    return value
  }
  if (["host", "port"].some((name) => given.get(name)?.includes(","))) fail(severalHosts)
  for (const name of readByDriver) given.delete(name)
  for (const [name, values] of Object.entries(harmless)) {
    const value = taken(name)
    if (value !== null && !values.includes(value.toLowerCase()))
      fail(`has ${name}=${value}, of which only ${values.join(" and ")} can be honoured: change or remove it`)
  }
  const sslmode = taken("sslmode")
  const timeout = taken("connect_timeout")
  const found = {
    sslmode:
      sslmode === null
        ? null
        : (sslModes.find((mode) => mode === sslmode) ??
          fail(`has sslmode=${sslmode}, which must be one of ${sslModes.join(", ")}`)),
    rootCertificates: taken("sslrootcert"),
    certificate: taken("sslcert"),
    key: taken("sslkey"),
    passphrase: taken("sslpassword"),
    connectTimeoutSecs:
      timeout === null
        ? null
        : /^[1-9][0-9]{0,2}$/.test(timeout)
          ? Number(timeout)
          : fail(`has connect_timeout=${timeout}, which must be a number of seconds from 1 to 999`),
    applicationName: taken("application_name")
  }
  const [unread] = given.keys()
  if (unread !== undefined)
    fail(`has the parameter "${unread}", which is not read here: ${instead[unread] ?? "remove it"}`)
  return found
}

const severalHosts = "names several hosts: name one, which always leads to the primary"

type ReadFile = (path: string) => string

/** The TLS of the connection, as `Address` has it; null: `sslmode` in the URL is all that there is to know. */
export const tls = (
  url: DatabaseUrl,
  ownAuthorities: string | null,
  file: ReadFile
): true | ConnectionOptions | null => {
  const { certificate, key, passphrase, rootCertificates, sslmode } = url
  if (ownAuthorities !== null && rootCertificates !== null)
    fail("has sslrootcert, and DATABASE_CA_FILE is set: keep one of them")
  const isSystem = rootCertificates === "system"
  const ca =
    ownAuthorities !== null
      ? authorities("DATABASE_CA_FILE", "", ownAuthorities)
      : rootCertificates === null || isSystem
        ? null
        : authorities("DATABASE_URL", "names a sslrootcert that ", file(rootCertificates))
  if ((certificate === null) !== (key === null)) fail("has one of sslcert and sslkey, which belong together")
  if (passphrase !== null && key === null) fail("has sslpassword without sslkey")
  const isNamed = ca !== null || isSystem || key !== null
  switch (sslmode) {
    case "disable":
    case "allow":
    case "prefer":
      return isNamed
        ? fail(`has sslmode=${sslmode}, which checks no certificate, but one is named: write sslmode=verify-full`)
        : null
    case "verify-ca":
      if (ca === null) fail("has sslmode=verify-ca, which needs DATABASE_CA_FILE: name it, or write verify-full")
      break
    case null:
      if (!isNamed) return null
      break
    case "require":
    case "verify-full":
      break
  }
  const options: ConnectionOptions = {
    ...(ca === null ? {} : { ca }),
    ...(certificate === null || key === null ? {} : { cert: file(certificate), key: file(key) }),
    ...(passphrase === null ? {} : { passphrase }),
    // This mode does not compare the name of the host.
    ...(sslmode === "verify-ca" ? { checkServerIdentity: () => undefined } : {})
  }
  try {
    createSecureContext(options)
  } catch (error) {
    fail(`names a sslcert or sslkey that cannot be used: ${error instanceof Error ? error.message : String(error)}`)
  }
  return Object.keys(options).length === 0 ? true : options
}

const authorities = (variable: string, which: string, pem: string): string => {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (found.length === 0) Environment.fail(variable, `${which}holds no PEM certificate`)
  try {
    return found.map((one) => new X509Certificate(one).toString()).join("")
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return Environment.fail(variable, `${which}holds a certificate that cannot be read: ${detail}`)
  }
}

const fileOf: ReadFile = (path) => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    return fail(`names a file that cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The database of `DATABASE_URL`; null: the embedded Postgres is used. */
export const address = (env: Environment.Environment): Address | null => {
  const text = env.optional("DATABASE_URL")
  const ownAuthorities = env.file("DATABASE_CA_FILE")
  if (text === null)
    return ownAuthorities === null
      ? null
      : Environment.fail("DATABASE_CA_FILE", "is only for DATABASE_URL, which is not set")
  const url = parse(text)
  const ssl = tls(url, ownAuthorities, fileOf)
  return {
    url: Redacted.make(text.trim()),
    ...(ssl === null ? {} : { ssl }),
    ...(url.connectTimeoutSecs === null ? {} : { connectTimeoutSecs: url.connectTimeoutSecs }),
    ...(url.applicationName === null ? {} : { applicationName: url.applicationName })
  }
}
