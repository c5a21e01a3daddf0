import { Schema } from "effect"
import * as EmailAddress from "../../../domain/EmailAddress.ts"

/**
 * RFC 5321 section 4.1.2 with the letters of all scripts (RFC 6531): a local part without quotes, and a domain of at
 * least two labels. No URL, no address literal, no control or direction mark.
 */
const form =
  /^[\p{L}\p{N}\p{M}!#$%&'*+\-/=?^_`{|}~]+(\.[\p{L}\p{N}\p{M}!#$%&'*+\-/=?^_`{|}~]+)*@([\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?\.)+[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?$/u

/** One e-mail address, and nothing beside it. */
export const schema = (description: string) =>
  Schema.String.check(
    Schema.isMaxCodePoints(254),
    Schema.isPattern(form, { message: "must be an e-mail address" }),
    Schema.makeFilter((address) => EmailAddress.tooLong(address) ?? undefined, { toJsonSchema: () => ({}) })
  ).annotate({ format: "email", description, examples: ["ada@example.com"] })
