import { Effect, Layer, Logger, References } from "effect"
import * as Printable from "../../domain/schema/Printable.ts"
import type { Config } from "./config/Config.ts"

/**
 * Makes a line safe for the log, whatever it contains: keys and signing secrets never reach a log, and text from
 * outside can neither forge a line nor control the terminal that shows it.
 */
export const scrub = (line: string): string =>
  Printable.neutral(line.replace(/\b(svc_live_|whsec_)[A-Za-z0-9_-]{8,}/g, "$1…"))

/**
 * Writes lines to the standard error output, those of a quarter of a second at once, so that one write serves many
 * lines.
 */
export const layer = (config: Pick<Config, "logLevel" | "logFormat">) =>
  Layer.mergeAll(
    Logger.layer([
      Logger.batched(Logger.map(config.logFormat === "json" ? Logger.formatJson : Logger.formatLogFmt, scrub), {
        window: "250 millis",
        flush: (lines) => Effect.sync(() => void process.stderr.write(`${lines.join("\n")}\n`))
      })
    ]),
    Layer.succeed(References.MinimumLogLevel, config.logLevel)
  )
