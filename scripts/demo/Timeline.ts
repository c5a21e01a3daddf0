/** The story as lines: seconds since the beginning, who speaks, what is said, and the fields that matter. */
export interface Timeline {
  readonly note: (what: string, detail: string) => void
  /** An answer of the API. */
  readonly answer: (request: string, status: number, detail: string) => void
  /** A webhook whose signature was verified. */
  readonly webhook: (type: string, detail: string) => void
}

const shorten = (text: string) => (text.length > 110 ? `${text.slice(0, 109)}…` : text)

export const make = (): Timeline => {
  const began = performance.now()
  const line = (mark: string, what: string, detail: string) => {
    const seconds = ((performance.now() - began) / 1000).toFixed(3).padStart(8)
    console.log(`${seconds} s  ${mark}  ${what.padEnd(44)}  ${shorten(detail)}`.trimEnd())
  }
  return {
    note: (what, detail) => line(" ", what, detail),
    answer: (request, status, detail) => line("→", request, `${status} ${detail}`),
    webhook: (type, detail) => line("←", `${type} (signature verified)`, detail)
  }
}
