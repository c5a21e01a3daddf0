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
    const helps = this.reason === "unsupported_platform" || this.reason === "binaries_unusable"
    return `embedded Postgres: ${this.detail}${helps ? "; or set DATABASE_URL to a Postgres of your own" : ""}`
  }
}

export const because = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
