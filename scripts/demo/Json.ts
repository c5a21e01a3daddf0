/** Something is not as the story needs it. */
export class Unexpected extends Error {}

type Path = ReadonlyArray<string | number>

export const at = (value: unknown, ...path: Path): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined),
    value
  )

export const textAt = (value: unknown, ...path: Path): string => {
  const found = at(value, ...path)
  if (typeof found === "string") return found
  throw new Unexpected(`${path.join(".")} should be a string in ${JSON.stringify(value)}`)
}

export const numberAt = (value: unknown, ...path: Path): number => {
  const found = at(value, ...path)
  if (typeof found === "number") return found
  throw new Unexpected(`${path.join(".")} should be a number in ${JSON.stringify(value)}`)
}

export const listAt = (value: unknown, ...path: Path): ReadonlyArray<unknown> => {
  const found = at(value, ...path)
  if (Array.isArray(found)) return found
  throw new Unexpected(`${path.join(".")} should be a list in ${JSON.stringify(value)}`)
}

/** An error with what caused it. */
export const readable = (failure: unknown): string => {
  if (!(failure instanceof Error)) return String(failure)
  return failure.cause === undefined ? failure.message : `${failure.message}: ${readable(failure.cause)}`
}
