import { Data, Redacted, Result } from "effect"
import { readFileSync } from "node:fs"
import * as IpAddress from "../../../domain/network/IpAddress.ts"
import { OperatorTarget } from "../../../ports/egress/OperatorTarget.ts"

/** A variable has an impossible value. The message is one line that names the variable. */
export class ConfigInvalid extends Data.TaggedError("ConfigInvalid")<{
  readonly variable: string
  readonly detail: string
}> {
  override get message() {
    return `${this.variable} ${this.detail}`
  }
}

export const fail = (variable: string, detail: string): never => {
  throw new ConfigInvalid({ variable, detail })
}

/** Fails when a limit is below another one, named `other`, that it must not be below. */
export const notBelow = (variable: string, value: number, other: string, least: number): void => {
  if (value < least) fail(variable, `must not be below ${other} (${least}), but is ${value}`)
}

export type Variables = Readonly<Record<string, string | undefined>>

export type Environment = ReturnType<typeof make>

const startsWith = (protocols: ReadonlyArray<string>) =>
  `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`

/** Reads variables; an empty one counts as absent. Each reader throws `ConfigInvalid`. */
export const make = (variables: Variables) => {
  const text = (variable: string, otherwise: string): string => {
    const value = variables[variable]
    return value === undefined || value === "" ? otherwise : value
  }
  const optional = (variable: string): string | null => text(variable, "") || null
  const integer = (variable: string, otherwise: number, min: number, max: number): number => {
    const value = text(variable, String(otherwise))
    if (!/^[0-9]+$/.test(value) || Number(value) < min || Number(value) > max)
      return fail(variable, `must be a whole number from ${min} to ${max}, not "${value}"`)
    return Number(value)
  }
  const flag = (variable: string): boolean => {
    const value = text(variable, "false")
    if (value !== "true" && value !== "false") return fail(variable, `must be true or false, not "${value}"`)
    return value === "true"
  }
  const oneOf = <const Value extends string>(
    variable: string,
    otherwise: Value,
    values: ReadonlyArray<Value>
  ): Value => {
    const value = text(variable, otherwise)
    return (
      values.find((candidate) => candidate.toLowerCase() === value.toLowerCase()) ??
      fail(variable, `must be one of ${values.join(", ")}, not "${value}"`)
    )
  }
  const secret = (variable: string): Redacted.Redacted | null => {
    const value = optional(variable)
    return value === null ? null : Redacted.make(value)
  }
  /** Gives the canonical form of an address. A zone is refused, because it has a meaning only on one machine. */
  const address = (variable: string, value: string): string =>
    value.includes("%") ? notAddress(variable, value) : (IpAddress.canonical(value) ?? notAddress(variable, value))
  const notAddress = (variable: string, value: string) => fail(variable, `must be an IP address, not "${value}"`)
  const url = (variable: string, otherwise: string, protocols: ReadonlyArray<string>): string => {
    const value = text(variable, otherwise)
    return URL.canParse(value) && protocols.includes(new URL(value).protocol)
      ? value.replace(/\/+$/, "")
      : fail(variable, startsWith(protocols))
  }
  const file = (variable: string): string | null => {
    const path = optional(variable)
    if (path === null) return null
    try {
      return readFileSync(path, "utf8")
    } catch (error) {
      return fail(variable, `cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  /** Reads the URL of one of the operator's services, which may be private and without TLS; null: there is none. */
  const service = (
    variable: string,
    protocols: ReadonlyArray<string>,
    { authorities = null, otherwise = "" }: { readonly otherwise?: string; readonly authorities?: string | null } = {}
  ): OperatorTarget | null => {
    if (text(variable, otherwise) === "") return null
    const target = OperatorTarget.configured(url(variable, otherwise, protocols), {
      plain: true,
      ...(authorities === null ? {} : { authorities })
    })
    return Result.match(target, { onSuccess: (found) => found, onFailure: (fault) => fail(variable, fault) })
  }
  return { text, optional, integer, flag, oneOf, secret, address, url, file, service }
}
