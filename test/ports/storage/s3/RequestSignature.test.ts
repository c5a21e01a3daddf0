import { describe, expect, it } from "@effect/vitest"
import { hash } from "node:crypto"
import * as RequestSignature from "../../../../src/ports/storage/s3/RequestSignature.ts"

// The examples are from the store's documentation, "Signature Calculations for the Authorization Header".
const credentials = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1"
}
const at = Date.UTC(2013, 4, 24)
const host = "examplebucket.s3.amazonaws.com"
const signatureOf = (headers: Readonly<Record<string, string>>) => headers["authorization"]?.split("Signature=")[1]

describe("A signature of version 4", () => {
  it("of a range of an object is that of the published example", () => {
    const signed = RequestSignature.sign(credentials, {
      method: "GET",
      path: "/test.txt",
      headers: { host, range: "bytes=0-9" },
      bodyHash: RequestSignature.ofNothing,
      at
    })
    expect(signatureOf(signed)).toBe("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    expect(signed["authorization"]).toContain("SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,")
  })

  it("of an object that is put, whose key has a character to escape, is that of the published example", () => {
    const signed = RequestSignature.sign(credentials, {
      method: "PUT",
      path: `/${RequestSignature.pathOf("test$file.text")}`,
      headers: { host, date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      bodyHash: hash("sha256", "Welcome to Amazon S3.", "hex"),
      at
    })
    expect(signatureOf(signed)).toBe("98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
  })

  it("escapes all but the unreserved characters of a key", () => {
    expect(RequestSignature.pathOf("a b/ü/(1)*'!~-_.x")).toBe("a%20b/%C3%BC/%281%29%2A%27%21~-_.x")
  })
})
