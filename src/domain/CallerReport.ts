/** RFC 5806. `unknown` is also a reason that the network does not name. */
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

export const attestationLevels = ["A", "B", "C"] as const

/** How a number is shown that is withheld, or missing. */
export const anonymous = "anonymous"
