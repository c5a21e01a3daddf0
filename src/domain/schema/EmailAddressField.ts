import { Schema } from "effect"
import * as EmailAddress from "../EmailAddress.ts"

/**
 * RFC 5321 section 4.1.2 with the letters of all scripts (RFC 6531): an unquoted local part and a domain of at least
 * two labels. URLs, address literals, control and direction marks do not match.
 */
const form =
  /^[\p{L}\p{N}\p{M}!#$%&'*+\-/=?^_`{|}~]+(\.[\p{L}\p{N}\p{M}!#$%&'*+\-/=?^_`{|}~]+)*@([\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?\.)+[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?$/u

/** Matches exactly one e-mail address. */
export const schema = (description: string) =>
  Schema.String.check(
    Schema.isMaxCodePoints(254),
    Schema.isPattern(form, { message: "must be an e-mail address" }),
    Schema.makeFilter((address) => EmailAddress.tooLong(address) ?? undefined, { toJsonSchema: () => ({}) })
  ).annotate({ format: "email", description, examples: ["ada@example.com"] })
