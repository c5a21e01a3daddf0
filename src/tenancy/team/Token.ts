import { hash } from "node:crypto"

/** The token in a letter's link: 32 random bytes in base64url. Only its hash is stored. */
export const make = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url")

export const hashOf = (token: string): string => hash("sha256", token, "hex")
