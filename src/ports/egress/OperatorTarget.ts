import { Result } from "effect"
import * as Target from "./Target.ts"

/**
 * A service of the operator's own (object storage, a mail relay, a speech engine), as configuration names it.
 *
 * It may stand at a private address, have an authority of its own, and speak without TLS where the operator says so.
 * Only `boot/` makes one, from configuration (`scripts/floors.ts` checks that). A function that takes one
 * takes no string, so that no URL of a tenant gets there.
 */
export class OperatorTarget {
  readonly #base: Target.Target
  /** PEM of authorities that are trusted besides the default roots. */
  readonly authorities: string | null

  private constructor(base: Target.Target, authorities: string | null) {
    this.#base = base
    this.authorities = authorities
  }

  /** Fails with what follows "the URL …" in a sentence. The path of the URL comes before the path of every request. */
  static configured(
    url: string,
    options: {
      /** Whether `http:`, `ws:` and `smtp:` are accepted. */
      readonly plain: boolean
      readonly authorities?: string
    }
  ): Result.Result<OperatorTarget, string> {
    const parsed = Target.parse(url, Target.operators, options.plain ? [...secure, ...plain] : secure)
    if (Result.isFailure(parsed)) return Result.fail(parsed.failure.detail)
    const base = parsed.success
    if (/[?#]/.test(base.href)) return Result.fail("must not carry a query or a fragment")
    return Result.succeed(new OperatorTarget(base, options.authorities ?? null))
  }

  /** `path` begins with a slash; one that leads out of the configured path is refused. */
  at(path: string): Result.Result<Target.Target, Target.TargetFault> {
    if (!path.startsWith("/")) return Result.fail({ reason: "invalid_url", detail: "has a path without a slash" })
    const { href, scheme } = this.#base
    const root = href.replace(/\/$/, "")
    const parsed = Target.parse(root + path, Target.operators, [scheme])
    if (Result.isSuccess(parsed) && !parsed.success.href.startsWith(`${root}/`))
      return Result.fail({ reason: "invalid_url", detail: "has a path that leads elsewhere" })
    return parsed
  }
}

const secure = ["https:", "wss:", "smtps:"] as const
const plain = ["http:", "ws:", "smtp:"] as const
