import { Layer, Metric } from "effect"

/** Metrics of one layer alone: test files share a process, and would see what the others count. */
export const layer = Layer.sync(Metric.MetricRegistry, () => new Map())
