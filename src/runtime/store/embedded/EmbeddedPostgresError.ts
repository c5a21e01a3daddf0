import { Schema } from "effect"

/** The embedded database did not start; `message` is the one line that an operator reads. */
export class EmbeddedPostgresError extends Schema.TaggedError<EmbeddedPostgresError>()("EmbeddedPostgresError", {
  reason: Schema.Literals([
    "unsupported_platform",
    "binaries_unusable",
    "cluster_unusable",
    "initdb_failed",
    "start_failed",
    "start_timeout",
    "orphan_not_stopped"
  ]),
  detail: Schema.String
}) {
  override get message() {
    return `embedded Postgres: ${this.detail}; or set DATABASE_URL to a Postgres of your own`
  }
}

export const because = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
