import { createHmac, hash } from "node:crypto"

interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly region: string
}

interface Unsigned {
  readonly method: string
  /** The path as it is sent, encoded, without a query. */
  readonly path: string
  /** The names are in lower case and include `host`. */
  readonly headers: Readonly<Record<string, string>>
  /** SHA-256 of the body, in hex. */
  readonly bodyHash: string
  /** The time of the request, in epoch milliseconds. */
  readonly at: number
}

/** The SHA-256 of an empty body. */
export const ofNothing = hash("sha256", "", "hex")

const hmac = (key: string | Uint8Array, text: string): Buffer => createHmac("sha256", key).update(text).digest()

/**
 * A key as the path of a URL: every character that is not unreserved (RFC 3986 section 2.3) is escaped, except slashes.
 */
export const pathOf = (key: string): string =>
  key
    .split("/")
    .map((name) =>
      encodeURIComponent(name).replaceAll(
        /[!'()*]/g,
        (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
      )
    )
    .join("/")

/**
 * The headers of a request with AWS Signature Version 4 (service `s3`, single chunk), which S3-compatible stores accept
 * too. Every given header is signed.
 */
export const sign = (
  { accessKeyId, region, secretAccessKey }: Credentials,
  { at, bodyHash, headers, method, path }: Unsigned
): Readonly<Record<string, string>> => {
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d{3}/g, "")
  const day = time.slice(0, 8)
  const signed: Readonly<Record<string, string>> = {
    ...headers,
    "x-amz-content-sha256": bodyHash,
    "x-amz-date": time
  }
  const names = Object.keys(signed).toSorted()
  const canonical = [
    method,
    path,
    "",
    ...names.map((name) => `${name}:${(signed[name] ?? "").trim()}`),
    "",
    names.join(";"),
    bodyHash
  ].join("\n")
  const scope = `${day}/${region}/s3/aws4_request`
  const key = [day, region, "s3", "aws4_request"].reduce<string | Uint8Array>(hmac, `AWS4${secretAccessKey}`)
  const signature = hmac(key, ["AWS4-HMAC-SHA256", time, scope, hash("sha256", canonical, "hex")].join("\n"))
  return {
    ...signed,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope},SignedHeaders=${names.join(";")},Signature=${signature.toString("hex")}`
  }
}
