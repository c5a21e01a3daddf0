/**
 * Certificates for HTTPS servers of tests and the demo, written in DER by hand (X.690, RFC 5280): a machine with Node
 * alone has no `openssl`. P-256 keys, ECDSA with SHA-256.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"
import { isIP } from "node:net"

export interface TestCertificate {
  /** PEM, as `https.createServer` takes it. */
  readonly cert: string
  readonly key: string
}

export interface TestAuthority {
  /** PEM of the root, for `TARGET_CA_FILE`. */
  readonly cert: string
  /** A server certificate for these DNS names and IPv4 addresses; by default valid around now. */
  readonly issue: (names: ReadonlyArray<string>, validity?: Validity) => TestCertificate
}

interface Validity {
  readonly from: Date
  readonly to: Date
}

const dayMs = 86_400_000
const aroundNow = (): Validity => ({ from: new Date(Date.now() - dayMs), to: new Date(Date.now() + 30 * dayMs) })

const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content])
  const length = Buffer.from(content.length.toString(16).padStart(4, "0"), "hex")
  return Buffer.concat([Buffer.from([tag, 0x82]), length, content])
}

const sequence = (...parts: ReadonlyArray<Uint8Array>) => der(0x30, ...parts)
const bytes = (hex: string) => Buffer.from(hex, "hex")
const text = (value: string) => Buffer.from(value, "latin1")
const octets = (content: Uint8Array) => der(0x04, content)
const utcTime = (date: Date) => der(0x17, text(`${date.toISOString().replaceAll(/[-:T]/g, "").slice(2, 14)}Z`))

/** Object identifiers, encoded. */
const oid = {
  ecdsaWithSha256: bytes("06082a8648ce3d040302"),
  commonName: bytes("0603550403"),
  keyUsage: bytes("0603551d0f"),
  subjectAltName: bytes("0603551d11"),
  basicConstraints: bytes("0603551d13")
}
const critical = bytes("0101ff")

const nameOf = (commonName: string) => sequence(der(0x31, sequence(oid.commonName, der(0x0c, text(commonName)))))

const altName = (name: string) =>
  isIP(name) === 4 ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, text(name))

const pem = (certificate: Uint8Array) => {
  const lines =
    Buffer.from(certificate)
      .toString("base64")
      .match(/.{1,64}/g) ?? []
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n")
}

const certificate = (of: {
  readonly issuer: string
  readonly signer: KeyObject
  readonly subject: string
  readonly publicKey: KeyObject
  readonly validity: Validity
  readonly extensions: ReadonlyArray<Buffer>
}): string => {
  const algorithm = sequence(oid.ecdsaWithSha256)
  const body = sequence(
    der(0xa0, bytes("020102")), // version 3
    der(0x02, bytes("01"), randomBytes(8)), // serial number, positive
    algorithm,
    nameOf(of.issuer),
    sequence(utcTime(of.validity.from), utcTime(of.validity.to)),
    nameOf(of.subject),
    of.publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...of.extensions))
  )
  const signature = sign("sha256", body, of.signer)
  return pem(sequence(body, algorithm, der(0x03, bytes("00"), signature)))
}

/** A certificate authority of its own; each call makes another. */
export const makeAuthority = (name = "Trunkline test authority"): TestAuthority => {
  const root = generateKeyPairSync("ec", { namedCurve: "P-256" })
  return {
    cert: certificate({
      issuer: name,
      signer: root.privateKey,
      subject: name,
      publicKey: root.publicKey,
      validity: aroundNow(),
      extensions: [
        sequence(oid.basicConstraints, critical, octets(sequence(bytes("0101ff")))),
        sequence(oid.keyUsage, critical, octets(bytes("03020106"))) // keyCertSign, cRLSign
      ]
    }),
    issue: (names, validity = aroundNow()) => {
      const leaf = generateKeyPairSync("ec", { namedCurve: "P-256" })
      return {
        cert: certificate({
          issuer: name,
          signer: root.privateKey,
          subject: names[0] ?? "localhost",
          publicKey: leaf.publicKey,
          validity,
          extensions: [sequence(oid.subjectAltName, octets(sequence(...names.map(altName))))]
        }),
        key: leaf.privateKey.export({ type: "pkcs8", format: "pem" }).toString()
      }
    }
  }
}
