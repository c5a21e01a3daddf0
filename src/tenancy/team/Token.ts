import { hash } from "node:crypto"

/** What a link of a letter carries: 32 random bytes in base64url. It is kept as a hash. */
export const make = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url")

export const hashOf = (token: string): string => hash("sha256", token, "hex")
