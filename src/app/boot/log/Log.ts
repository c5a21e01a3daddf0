import { Effect, Layer, Logger, Metric, References } from "effect"
import * as Printable from "../../../domain/schema/Printable.ts"
import * as Supervised from "../../../runtime/process/Supervised.ts"
import type { Config } from "../config/Config.ts"
import * as LogOutput from "./LogOutput.ts"

/**
 * Makes a line safe for the log, whatever it contains: keys and signing secrets never reach a log, and text from
 * outside can neither forge a line nor control the terminal that shows it.
 */
export const scrub = (line: string): string =>
  Printable.neutral(line.replace(/\b(svc_live_|whsec_)[A-Za-z0-9_-]{8,}/g, "$1…"))

const lostLines = Metric.counter("log_lines_lost_total", {
  description:
    "Lines of the log that could not be written: their reader has gone or does not read, or the disk is full",
  incremental: true
})

/** How often lost lines are looked for, and how long the end of the process waits for the last lines. */
const look = "5 seconds"
const flushTime = "1 second"

/**
 * Writes lines to the standard error output or to `LOG_FILE`, those of a quarter of a second at once, so that one write
 * serves many lines. Lines that cannot be written are lost (`LogOutput`); a line says how many when one can be written
 * again.
 */
export const layer = (config: Pick<Config, "logLevel" | "logFormat" | "logFile">) =>
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(
        config.logFile === null
          ? Effect.sync(() => LogOutput.toStream(process.stderr))
          : LogOutput.toFile(config.logFile),
        (output) => Effect.timeoutOption(Effect.promise(output.flushed), flushTime)
      ),
      (output) =>
        Layer.effectDiscard(Supervised.fork("the watch over the log", watch(output))).pipe(
          Layer.provideMerge(layerOf(config, output))
        )
    )
  )

const layerOf = ({ logFormat, logLevel }: Pick<Config, "logLevel" | "logFormat">, output: LogOutput.LogOutput) =>
  Layer.mergeAll(
    Logger.layer([
      Logger.batched(Logger.map(logFormat === "json" ? Logger.formatJson : Logger.formatLogFmt, scrub), {
        window: "250 millis",
        flush: (lines) => Effect.sync(() => output.write(lines))
      })
    ]),
    Layer.succeed(References.MinimumLogLevel, logLevel)
  )

/** Counts lost lines, and reports them once the log can be written again. */
const watch = (output: LogOutput.LogOutput) =>
  Effect.suspend(() => {
    let counted = 0
    let reported = 0
    return Effect.forever(
      Effect.gen(function* () {
        yield* Effect.sleep(look)
        const lost = output.lost()
        if (lost > counted) yield* Metric.update(lostLines, lost - counted)
        counted = lost
        if (lost === reported || !output.works()) return
        yield* Effect.logWarning("lines of the log were lost, because it could not be written", {
          lines: lost - reported
        })
        reported = lost
      })
    )
  })
