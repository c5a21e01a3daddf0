/** The words of RFCs about a caller that SIP reads and the API shows alike. */

/** Why a call was diverted, RFC 5806; `unknown` is also any reason that it does not name. */
export const diversionReasons = [
  "unknown",
  "user_busy",
  "no_answer",
  "unavailable",
  "unconditional",
  "time_of_day",
  "do_not_disturb",
  "deflection",
  "follow_me",
  "out_of_service",
  "away"
] as const

/** How surely the caller may use its number, by the carrier that signed for it, RFC 8588 section 5. */
export const attestationLevels = ["A", "B", "C"] as const
