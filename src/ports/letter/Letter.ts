import { Clock, Context, Data, Effect, Layer, Metric } from "effect"
import { hash } from "node:crypto"
import type { TenantId } from "../../domain/Id.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import * as EmailAddress from "../../domain/EmailAddress.ts"
import { Mail } from "../mail/Mail.ts"
import * as LetterLimits from "./LetterLimits.ts"
import * as LetterRepo from "./LetterRepo.ts"
import * as Rendering from "./Rendering.ts"

export type { Letter } from "./Rendering.ts"
export { greeting, nameOf } from "./Rendering.ts"

/** Too many letters of this kind were written to this mailbox, or by this workspace. None was written. */
export class LetterLimited extends Data.TaggedError("LetterLimited")<{ readonly retryAfterSecs: number }> {}

interface Posted {
  /** The event that causes the letter, such as `renewal:<number>:<day>`. The same cause is posted once. */
  readonly cause: string
  readonly letter: Rendering.Letter
  /** The time after which the letter is of no use any more, in epoch milliseconds; absent: it always is of use. */
  readonly untilMs?: number
}

interface Addressed extends Posted {
  readonly tenantId: TenantId | null
  readonly to: string
}

/**
 * `billing`: the members with roles that pay (owner, admin, billing). `owners`: those responsible for everything
 * (owner, admin).
 */
type Audience = "billing" | "owners"

const roles: Readonly<Record<Audience, ReadonlyArray<string>>> = {
  billing: ["owner", "admin", "billing"],
  owners: ["owner", "admin"]
}

const kind = "letter.sending"
/** How many letters are handed over at once; tenants take turns. */
const places = 4
const timeoutMs = 90_000
/** The attempts span more than two days, so that a mail server takes the letters after a long outage. */
const retry = { attempts: 24, firstMs: 10_000, maxMs: 4 * 3_600_000 }

const ended = Metric.counter("letters_total", { description: "Letters that are done with, by outcome" })

/**
 * Letters to people. A letter is a row of the outbox, written in the transaction of its cause and sent after it.
 *
 * The content may hold a link with a token. It is sealed while the letter waits, and erased when the letter is done.
 *
 * A letter with an unknown outcome (the connection broke after the message, or the process died) is sent again under
 * the same Message-ID, by which mailboxes recognize it. A letter that the transport refuses for good is given up.
 */
export class Letters extends Context.Service<
  Letters,
  {
    /**
     * Writes a letter with a link, which a request asked for. Inside the caller's transaction it is a row of the
     * outbox, and it is sent after the commit. Letters to one mailbox or by one workspace wait for each other,
     * so the limits (guide/mail.md#limits) are exact.
     */
    readonly askWithin: (
      letter: Posted & {
        readonly kind: "verification" | "password_reset" | "invitation"
        readonly tenantId: TenantId
        readonly to: string
      }
    ) => Effect.Effect<void, LetterLimited>
    /** Writes a notice about something that has happened. Beyond the limits it is left out, which is logged. */
    readonly postWithin: (
      letter: Posted & { readonly tenantId: TenantId | null; readonly to: string }
    ) => Effect.Effect<void>
    /**
     * Does the same for each active member of the audience with a verified address; `alsoUnverified`: whether or not
     * the address is verified.
     */
    readonly postToWithin: (
      letter: Posted & { readonly tenantId: TenantId; readonly audience: Audience; readonly alsoUnverified?: boolean }
    ) => Effect.Effect<void>
  }
>()("trunkline/letter/Letters") {
  /** `baseUrl`: its host names the installation in Message-IDs. */
  static readonly layer = (options: { readonly baseUrl: string }) =>
    Layer.effect(
      Letters,
      Effect.gen(function* () {
        const mail = yield* Mail
        const jobs = yield* Jobs
        const repo = yield* LetterRepo.make
        const { hostname } = new URL(options.baseUrl)

        const writeWithin = Effect.fnUntraced(function* (counted: LetterLimits.Kind, posted: Addressed) {
          const { cause, letter, tenantId, to, untilMs = null } = posted
          const mailbox = EmailAddress.mailbox(to)
          const withinMs = LetterLimits.longestMs(counted)
          const waitMs = LetterLimits.waitMs(
            counted,
            yield* repo.earlier({ kind: counted, mailbox, tenantId, withinMs })
          )
          if (waitMs > 0) return yield* new LetterLimited({ retryAfterSecs: Math.ceil(waitMs / 1000) })
          if (yield* repo.insert({ cause, tenantId, kind: counted, mailbox, to, letter, untilMs }))
            yield* jobs.enqueue({ kind, key: cause, tenantId })
        })

        const postWithin = Effect.fn("Letters.postWithin")((posted: Addressed) =>
          Effect.catchTag(writeWithin("notice", posted), "LetterLimited", () =>
            Effect.andThen(
              Effect.logWarning("a letter was left out, because there were too many", { cause: posted.cause }),
              Metric.update(Metric.withAttributes(ended, { outcome: "limited" }), 1)
            )
          )
        )

        const end = (cause: string, outcome: LetterRepo.Outcome, detail: string | null) =>
          Effect.andThen(repo.end(cause, outcome, detail), Metric.update(Metric.withAttributes(ended, { outcome }), 1))

        const send = Effect.fn("Letters.send")(function* (cause: string) {
          const waiting = yield* repo.waiting(cause)
          if (waiting === null) return
          const { letter, to, untilMs } = waiting
          if (untilMs !== null && untilMs <= (yield* Clock.currentTimeMillis)) return yield* end(cause, "expired", null)
          const messageId = `${hash("sha256", cause, "hex").slice(0, 32)}@${hostname}`
          const refusal = yield* mail.send({ ...Rendering.render(letter), messageId, to: { address: to } }).pipe(
            Effect.as(null),
            Effect.catchIf(
              (error) => !error.retryable,
              ({ detail }) => Effect.succeed(detail)
            )
          )
          if (refusal !== null) yield* Effect.logWarning("a letter was refused for good", { cause, detail: refusal })
          yield* end(cause, refusal === null ? "sent" : "refused", refusal)
        })
        jobs.declare({ kind, concurrency: places, timeoutMs, retry, run: ({ key }) => send(key) })

        return Letters.of({
          askWithin: Effect.fn("Letters.askWithin")(function* ({ kind: asked, ...posted }) {
            const counted =
              asked !== "invitation" || (yield* repo.isConfirmed(posted.tenantId)) ? asked : "invitation_unconfirmed"
            // The workspace first, in every transaction, so that no two of them wait for each other.
            yield* repo.lock(posted.tenantId)
            yield* repo.lock(EmailAddress.mailbox(posted.to))
            yield* writeWithin(counted, posted)
          }),
          postWithin,
          postToWithin: Effect.fn("Letters.postToWithin")(function* ({
            alsoUnverified = false,
            audience,
            cause,
            ...posted
          }) {
            const readers = yield* repo.readers(posted.tenantId, roles[audience], alsoUnverified)
            yield* Effect.forEach(readers, ({ id, to }) => postWithin({ ...posted, cause: `${cause} ${id}`, to }), {
              discard: true
            })
          })
        })
      })
    )
}
