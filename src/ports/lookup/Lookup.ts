import { Context, type Effect, Schema } from "effect"

/** What a number is; null: the source does not know. */
export interface Found {
  /** Whether such a number can exist in its numbering plan. */
  readonly isValid: boolean
  readonly nationalFormat: string | null
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countryCode: string | null
  readonly carrier: {
    readonly name: string | null
    readonly type: LineType | null
    readonly mobileCountryCode: string | null
    readonly mobileNetworkCode: string | null
  }
  readonly callerName: string | null
  readonly portability: {
    readonly isPorted: boolean | null
    /** Epoch milliseconds. */
    readonly portedAt: number | null
    readonly lrn: string | null
    readonly ocn: string | null
    readonly spidCarrierName: string | null
  }
}

export const lineTypes = [
  "fixed_line",
  "mobile",
  "fixed_line_or_mobile",
  "toll_free",
  "premium_rate",
  "shared_cost",
  "voip",
  "personal_number",
  "pager",
  "uan",
  "voicemail"
] as const
export type LineType = (typeof lineTypes)[number]

/** What is asked: the carrier, or the name that its subscriber goes by. */
export type Asked = "carrier" | "caller_name"

/** The source could not be asked; asked again it may answer. */
export class LookupError extends Schema.TaggedError<LookupError>()("LookupError", { detail: Schema.String }) {
  override get message() {
    return `number not looked up: ${this.detail}`
  }
}

/** Looks numbers up: a port, so that an operator's carrier may say what numbering plans do not. */
export class Lookup extends Context.Service<
  Lookup,
  {
    /** `phoneNumber`: E.164. */
    readonly find: (phoneNumber: string, asked: Asked) => Effect.Effect<Found, LookupError>
  }
>()("trunkline/lookup/Lookup") {}
