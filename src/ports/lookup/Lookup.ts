import { Context, type Effect, Schema } from "effect"

/** The facts about a number; null: the source does not know. */
export interface Found {
  /** True when the numbering plan allows such a number. */
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
    /** The time of porting, in epoch milliseconds. */
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

/** The wanted fact: the carrier, or the subscriber's name. */
export type Asked = "carrier" | "caller_name"

/** The source could not be reached. A later attempt may succeed. */
class LookupError extends Schema.TaggedError<LookupError>()("LookupError", { detail: Schema.String }) {
  override get message() {
    return `number not looked up: ${this.detail}`
  }
}

/** Looks numbers up: a port, so that an operator's carrier can add facts that are in no numbering plan. */
export class Lookup extends Context.Service<
  Lookup,
  {
    /** `phoneNumber`: E.164. */
    readonly find: (phoneNumber: string, asked: Asked) => Effect.Effect<Found, LookupError>
  }
>()("trunkline/lookup/Lookup") {}
