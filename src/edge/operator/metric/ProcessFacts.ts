import { monitorEventLoopDelay } from "node:perf_hooks"
import { Effect, type Scope } from "effect"

/** One sample of the Prometheus text format. Names and units are those of the client libraries for Node.js. */
interface Sample {
  readonly name: string
  readonly type: "gauge" | "counter"
  readonly help: string
  readonly value: number
}

const resolutionMs = 10

/**
 * Memory, CPU time and event-loop delay of this process, read when asked. The delay is the one since the last reading.
 */
export const make: Effect.Effect<() => ReadonlyArray<Sample>, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const delay = monitorEventLoopDelay({ resolution: resolutionMs })
      delay.enable()
      return delay
    }),
    (delay) => Effect.sync(() => delay.disable())
  ),
  (delay) => () => {
    const memory = process.memoryUsage()
    const cpu = process.cpuUsage()
    // It records the whole distance between two ticks of its timer. Where it has recorded nothing yet, there is no
    // number.
    const seconds = (nanoseconds: number) =>
      Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e6 - resolutionMs) / 1e3 : 0
    const lag = { mean: seconds(delay.mean), p99: seconds(delay.percentile(99)), max: seconds(delay.max) }
    delay.reset()
    const gauge = (name: string, help: string, value: number): Sample => ({ name, type: "gauge", help, value })
    return [
      gauge("process_resident_memory_bytes", "Resident memory", memory.rss),
      gauge("nodejs_heap_size_used_bytes", "Used heap of the main thread", memory.heapUsed),
      gauge("nodejs_heap_size_total_bytes", "Reserved heap of the main thread", memory.heapTotal),
      gauge("nodejs_external_memory_bytes", "Memory outside the heap, array buffers among it", memory.external),
      {
        name: "process_cpu_seconds_total",
        type: "counter",
        help: "CPU time of all threads, user and system",
        value: (cpu.user + cpu.system) / 1e6
      },
      gauge("process_start_time_seconds", "Start of the process, Unix time", performance.timeOrigin / 1e3),
      gauge("nodejs_eventloop_lag_mean_seconds", "Mean event-loop delay since the last reading", lag.mean),
      gauge("nodejs_eventloop_lag_p99_seconds", "99th percentile of the event-loop delay since then", lag.p99),
      gauge("nodejs_eventloop_lag_max_seconds", "Longest event-loop delay since then", lag.max)
    ]
  }
)

/** Prometheus text exposition format 0.0.4. */
export const format = (samples: ReadonlyArray<Sample>): string =>
  samples
    .map(({ help, name, type, value }) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`)
    .join("")
