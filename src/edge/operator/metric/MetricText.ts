type Sample = readonly [labels: string, value: number]

/**
 * One metric in the Prometheus text format 0.0.4; without samples there is no text. Labels are written as they are, so
 * the caller names ids and addresses only, which need no escapes.
 */
export const metric = (
  name: string,
  type: "gauge" | "counter",
  help: string,
  samples: ReadonlyArray<Sample> | number
): string => {
  const lines =
    typeof samples === "number"
      ? [`${name} ${samples}`]
      : samples.map(([labels, value]) => `${name}{${labels}} ${value}`)
  return lines.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("\n")}\n`
}
