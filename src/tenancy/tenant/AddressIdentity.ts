import { hash } from "node:crypto"
import * as EmailAddress from "../../domain/EmailAddress.ts"

/**
 * Identifies the owner of an e-mail address across its spellings at providers that are known to ignore a part of it
 * (`EmailAddress.folded`). Only the trial credit depends on it, guide/money.md#the-balance. SHA-256 in hex.
 */
export const of = (email: string): string => hash("sha256", EmailAddress.folded(email), "hex")
