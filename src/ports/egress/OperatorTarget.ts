import { Result } from "effect"
import * as EgressTarget from "./EgressTarget.ts"

/**
 * One of the operator's own services (object storage, a mail relay, a speech engine), from configuration.
 *
 * It may be at a private address, have a certificate authority of its own, and do without TLS where the operator allows
 * it. Only `app/boot/` makes one, from configuration (`scripts/floors.ts` checks that). A function with such a
 * parameter takes no string, so that no URL of a tenant gets there.
 */
export class OperatorTarget {
  readonly #base: EgressTarget.EgressTarget
  /** The certificate authorities that are trusted besides the default roots, as PEM. */
  readonly authorities: string | null

  private constructor(base: EgressTarget.EgressTarget, authorities: string | null) {
    this.#base = base
    this.authorities = authorities
  }

  /**
   * Fails with the end of a sentence that begins with "the URL …". The path of the URL precedes the path of every
   * request.
   */
  static configured(
    url: string,
    options: {
      /** True when `http:`, `ws:` and `smtp:` are accepted. */
      readonly plain: boolean
      readonly authorities?: string
    }
  ): Result.Result<OperatorTarget, string> {
    const parsed = EgressTarget.parse(url, EgressTarget.operators, options.plain ? [...secure, ...plain] : secure)
    if (Result.isFailure(parsed)) return Result.fail(parsed.failure.detail)
    const base = parsed.success
    if (/[?#]/.test(base.href)) return Result.fail("must not carry a query or a fragment")
    return Result.succeed(new OperatorTarget(base, options.authorities ?? null))
  }

  /** `path` begins with a slash. A path that leads out of the configured one is refused. */
  at(path: string): Result.Result<EgressTarget.EgressTarget, EgressTarget.EgressTargetFault> {
    if (!path.startsWith("/")) return Result.fail({ reason: "invalid_url", detail: "has a path without a slash" })
    const { href, scheme } = this.#base
    const root = href.replace(/\/$/, "")
    const parsed = EgressTarget.parse(root + path, EgressTarget.operators, [scheme])
    if (Result.isSuccess(parsed) && !parsed.success.href.startsWith(`${root}/`))
      return Result.fail({ reason: "invalid_url", detail: "has a path that leads elsewhere" })
    return parsed
  }
}

const secure = ["https:", "wss:", "smtps:"] as const
const plain = ["http:", "ws:", "smtp:"] as const
