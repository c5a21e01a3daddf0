/** A line of the table at the end of the run. */
export interface Figure {
  readonly what: string
  readonly value: string
  /** Empty for a figure without a goal. */
  readonly goal: string
  /** Null when there is no goal. */
  readonly met: boolean | null
}

export const figure = (what: string, value: string): Figure => ({ what, value, goal: "", met: null })

export const against = (what: string, value: string, goal: string, met: boolean): Figure => ({ what, value, goal, met })

/** Writes thousands with a comma, and three significant digits below ten. */
export const number = (value: number): string =>
  Math.abs(value) >= 10 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(3)

/** Writes the microseconds of this process and of Postgres. */
export const cpu = (of: { readonly cpuMicros: number; readonly postgresMicros: number }): string =>
  `${number(of.cpuMicros)} / ${number(of.postgresMicros)}`

export const render = (sections: ReadonlyArray<readonly [title: string, figures: ReadonlyArray<Figure>]>): string => {
  const figures = sections.flatMap(([, lines]) => lines)
  const wide = (of: (line: Figure) => string) => Math.max(...figures.map((line) => of(line).length))
  const [what, value, goal] = [wide((line) => line.what), wide((line) => line.value), wide((line) => line.goal)]
  return sections
    .map(([title, lines]) =>
      [
        title,
        ...lines.map((line) =>
          `  ${line.what.padEnd(what)}  ${line.value.padStart(value)}  ${line.goal.padEnd(goal)}  ${
            line.met === null ? "" : line.met ? "met" : "MISSED"
          }`.trimEnd()
        )
      ].join("\n")
    )
    .join("\n\n")
}
