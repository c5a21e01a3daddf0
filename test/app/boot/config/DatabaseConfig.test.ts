import { Redacted } from "effect"
import { describe, expect, it } from "@effect/vitest"
import * as Config from "../../../../src/app/boot/config/Config.ts"
import * as DatabaseConfig from "../../../../src/app/boot/config/DatabaseConfig.ts"
import * as TestCertificate from "../../../support/network/TestCertificate.ts"

const authority = TestCertificate.makeAuthority()
const certificate = authority.issue(["db.example"])
const files: Readonly<Record<string, string>> = {
  "ca.pem": authority.cert,
  "cert.pem": certificate.cert,
  "key.pem": certificate.key,
  "empty.pem": "no certificate"
}
const file = (path: string): string => files[path] ?? ""
const tls = (parameters: string, ownAuthorities: string | null = null) =>
  DatabaseConfig.tls(DatabaseConfig.parse(`postgres://u:p@db.example/d${parameters}`), ownAuthorities, file)

describe("DATABASE_URL", () => {
  const accepted: ReadonlyArray<string> = [
    "postgres://u:p@db.example/d",
    "postgresql://u:p@db.example:6432/d?application_name=phones&connect_timeout=10",
    "postgres://u:p%23%2F%3F%25@db.example/d",
    "postgres://u%40tenant:p@db.example/d",
    "postgres://[2001:db8::5]:5432/d?user=a@b",
    "postgres:///d?host=/run/postgresql",
    "postgres://u:p@db.example/d?options=-csearch_path%3Dphones&target_session_attrs=read-write",
    "postgres://u:p@db.example/d?channel_binding=prefer&gssencmode=disable&client_encoding=UTF8",
    "postgres://u:p@db.example/d\n"
  ]
  for (const url of accepted)
    it(`is taken as ${JSON.stringify(url)}`, () =>
      expect(Redacted.value(Config.parse({ DATABASE_URL: url }).database?.url ?? Redacted.make(""))).toBe(url.trim()))

  it("gives its name to the connections, and its limit to each attempt to connect", () =>
    expect(
      Config.parse({ DATABASE_URL: "postgres://u@h/d?application_name=phones&connect_timeout=10" }).database
    ).toMatchObject({ applicationName: "phones", connectTimeoutSecs: 10 }))

  const refused: ReadonlyArray<readonly [url: string, message: RegExp]> = [
    ["mysql://h/d", /must be a URL that begins with postgres:\/\/ or postgresql:\/\//],
    ["postgres://u:p#q@h/d", /holds "#".*%23, also in a password/],
    ["postgres://u:p/q@h/d", /has "\/" or "\?" in its user or password: write them as %2F and %3F/],
    ["postgres://u:1/q@h/d", /has "\/" or "\?" in its user or password/],
    ["postgres://u:p?q@h/d", /has "\/" or "\?" in its user or password/],
    ["postgres://u:p%q@h/d", /holds "%" without two hex digits: write it as %25/],
    ["postgres://u:p@h1:5432,h2:5432/d", /names several hosts: name one/],
    ["postgres://u:p@h1,h2/d", /names several hosts: name one/],
    ["postgres:///d?host=h1,h2", /names several hosts: name one/],
    ["postgres://u:p@h:port/d", /is not a URL/],
    ["postgres://u:p@h:0/d", /has the port 0/],
    ["postgres://u:p@h/d?schema=phones", /the parameter "schema", which is not read here: .*search_path/],
    ["postgres://u:p@h/d?currentSchema=phones", /the parameter "currentSchema".*search_path/],
    ["postgres://u:p@h/d?ssl=true", /the parameter "ssl".*sslmode=verify-full/],
    ["postgres://u:p@h/d?pgbouncer=true", /the parameter "pgbouncer".*pool_mode = session/],
    ["postgres://u:p@h/d?connection_limit=5", /the parameter "connection_limit".*remove it/],
    ["postgres://u:p@h/d?sslmode=no-verify", /has sslmode=no-verify, which must be one of disable, .*verify-full/],
    ["postgres://u:p@h/d?sslmode=require&sslmode=disable", /has the parameter "sslmode" twice/],
    ["postgres://u:p@h/d?channel_binding=require", /has channel_binding=require, of which only disable and prefer/],
    ["postgres://u:p@h/d?target_session_attrs=standby", /has target_session_attrs=standby/],
    ["postgres://u:p@h/d?connect_timeout=soon", /has connect_timeout=soon/],
    ["postgres://u:p@h/d?sslrootcert=/no/such/file", /names a file that cannot be read/]
  ]
  for (const [url, message] of refused)
    it(`is refused by name as ${url}`, () => {
      expect(() => Config.parse({ DATABASE_URL: url })).toThrow(message)
      expect(() => Config.parse({ DATABASE_URL: url })).toThrow(/^DATABASE_URL [^\n]*$/)
    })

  const modes: ReadonlyArray<readonly [parameters: string, expected: object | true | null]> = [
    ["", null],
    ["?sslmode=disable", null],
    ["?sslmode=prefer", null],
    ["?sslmode=require", true],
    ["?sslmode=verify-full", true],
    ["?sslrootcert=system", true],
    ["?sslrootcert=ca.pem", { ca: authority.cert.trim() }],
    ["?sslmode=require&sslrootcert=ca.pem", { ca: authority.cert.trim() }],
    ["?sslcert=cert.pem&sslkey=key.pem", { cert: certificate.cert, key: certificate.key }]
  ]
  for (const [parameters, expected] of modes)
    it(`has the TLS of "${parameters}"`, () => {
      const found = tls(parameters)
      if (typeof found !== "object" || found === null) expect(found).toBe(expected)
      else expect({ ...found, ...(found.ca === undefined ? {} : { ca: String(found.ca).trim() }) }).toEqual(expected)
    })

  it("compares the name of the host in every mode but verify-ca", () => {
    expect(tls("?sslmode=verify-ca", authority.cert)).toHaveProperty("checkServerIdentity")
    expect(tls("?sslmode=verify-full", authority.cert)).not.toHaveProperty("checkServerIdentity")
    expect(tls("", authority.cert)).not.toHaveProperty("checkServerIdentity")
  })

  const conflicts: ReadonlyArray<readonly [parameters: string, own: string | null, message: RegExp]> = [
    ["?sslrootcert=ca.pem", authority.cert, /keep one of them/],
    ["?sslrootcert=empty.pem", null, /^DATABASE_URL names a sslrootcert that holds no PEM certificate/],
    ["", "no certificate", /^DATABASE_CA_FILE holds no PEM certificate/],
    ["?sslmode=disable", authority.cert, /sslmode=disable, which checks no certificate/],
    ["?sslmode=prefer&sslrootcert=ca.pem", null, /sslmode=prefer, which checks no certificate/],
    ["?sslmode=verify-ca", null, /sslmode=verify-ca, which needs DATABASE_CA_FILE/],
    ["?sslcert=cert.pem", null, /sslcert and sslkey, which belong together/],
    ["?sslcert=cert.pem&sslkey=empty.pem", null, /sslcert or sslkey that cannot be used/],
    ["?sslpassword=x", null, /sslpassword without sslkey/]
  ]
  for (const [parameters, own, message] of conflicts)
    it(`is refused with "${parameters}"${own === null ? "" : " beside DATABASE_CA_FILE"}`, () =>
      expect(() => tls(parameters, own)).toThrow(message))

  it("is what DATABASE_CA_FILE is for", () => {
    expect(() => Config.parse({ DATABASE_CA_FILE: "/no/such/file" })).toThrow(/^DATABASE_CA_FILE cannot be read/)
    expect(() => Config.parse({ DATABASE_CA_FILE: import.meta.filename })).toThrow(
      /^DATABASE_CA_FILE is only for DATABASE_URL/
    )
  })
})
