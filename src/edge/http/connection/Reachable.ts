import { Effect } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import { Egress } from "../../../ports/egress/Egress.ts"

/**
 * Checks the URLs of a body, by field name; undefined: it has none. Fails with `invalid_request` for one that this
 * service would not open.
 */
export const make = Effect.map(
  Egress,
  (egress) => (targets: Readonly<Record<string, string | undefined>>, scheme: "https:" | "wss:") =>
    Effect.forEach(
      Object.entries(targets),
      ([field, url]) => {
        const refusal = url === undefined ? null : egress.refuse(url, [scheme])
        return refusal === null
          ? Effect.void
          : Effect.fail(ApiError.of("invalid_request", `${field}: the URL ${refusal}`, field))
      },
      { discard: true }
    )
)
