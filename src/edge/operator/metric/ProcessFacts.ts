import { monitorEventLoopDelay } from "node:perf_hooks"
import { Effect, type Scope } from "effect"
import { metric } from "./MetricText.ts"

const resolutionMs = 10

/**
 * Memory, CPU time and event-loop delay of this process, read at each scrape, with the names and units of Prometheus
 * clients for Node.js. The delay is measured since the scrape before.
 */
export const make: Effect.Effect<() => string, never, Scope.Scope> = Effect.map(
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
    // The monitor records the whole distance between two ticks of its timer, and NaN where there was no tick.
    const seconds = (nanoseconds: number) =>
      Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e6 - resolutionMs) / 1e3 : 0
    const lag = { mean: seconds(delay.mean), p99: seconds(delay.percentile(99)), max: seconds(delay.max) }
    delay.reset()
    const gauge = (name: string, help: string, value: number) => metric(name, "gauge", help, value)
    return [
      gauge("process_resident_memory_bytes", "Resident memory", memory.rss),
      gauge("nodejs_heap_size_used_bytes", "Used heap of the main thread", memory.heapUsed),
      gauge("nodejs_heap_size_total_bytes", "Reserved heap of the main thread", memory.heapTotal),
      gauge("nodejs_external_memory_bytes", "Memory outside the heap, array buffers among it", memory.external),
      metric(
        "process_cpu_seconds_total",
        "counter",
        "CPU time of all threads, user and system",
        (cpu.user + cpu.system) / 1e6
      ),
      gauge("process_start_time_seconds", "Start of the process, Unix time", performance.timeOrigin / 1e3),
      gauge("nodejs_eventloop_lag_mean_seconds", "Mean event-loop delay since the last reading", lag.mean),
      gauge("nodejs_eventloop_lag_p99_seconds", "99th percentile of the event-loop delay since then", lag.p99),
      gauge("nodejs_eventloop_lag_max_seconds", "Longest event-loop delay since then", lag.max)
    ].join("")
  }
)
