import { readFile } from "node:fs/promises"
import { join } from "node:path"
import * as OperatorName from "./OperatorName.ts"

/** The service answered with an error: its code and message. */
export class ServiceError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The service was not reached, or its token is not on this machine. */
export class Unreachable extends Error {}

type Environment = Readonly<Record<string, string | undefined>>

const given = (environment: Environment, name: string) => environment[name] || undefined

const baseUrl = (environment: Environment): string =>
  (given(environment, "OPERATOR_URL") ?? `http://127.0.0.1:${given(environment, "OPERATOR_PORT") ?? "8081"}`).replace(
    /\/+$/,
    ""
  )

const readToken = async (environment: Environment): Promise<string> => {
  const token = given(environment, "OPERATOR_TOKEN")
  if (token !== undefined) return token
  const path = join(given(environment, "DATA_DIR") ?? "data", "operator.token")
  try {
    return (await readFile(path, "utf8")).trim()
  } catch (cause) {
    const detail = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause)
    throw new Unreachable(
      `cannot read the token ${path} (${detail}): set DATA_DIR to the running service's, or OPERATOR_TOKEN`,
      { cause }
    )
  }
}

/** Asks the running service; `OPERATOR_URL` and `OPERATOR_TOKEN` win over `OPERATOR_PORT` and `DATA_DIR`. */
export const ask = (environment: Environment, operation: string, body: unknown): Promise<unknown> =>
  request(environment, operation, body, (response) => response.json().catch(() => null))

/** Like `ask`, for an answer that is a stream, which `use` reads. */
export const stream = <A>(
  environment: Environment,
  operation: string,
  body: unknown,
  use: (bytes: ReadableStream<Uint8Array>) => Promise<A>
): Promise<A> =>
  request(environment, operation, body, (response) => {
    if (response.body === null) throw new Unreachable("the service answered with nothing")
    return use(response.body)
  })

const request = async <A>(
  environment: Environment,
  operation: string,
  body: unknown,
  use: (response: Response) => Promise<A>
): Promise<A> => {
  const url = baseUrl(environment)
  const authorization = `Bearer ${await readToken(environment)}`
  const name = OperatorName.given(environment)
  const response = await fetch(`${url}/operator/${operation}`, {
    method: "POST",
    headers: {
      authorization,
      "content-type": "application/json",
      // A header has no other letters; the door refuses the name by its rule.
      ...(name === null ? {} : { [OperatorName.header]: name.replaceAll(/[^\x21-\x7e]/g, "?") })
    },
    body: JSON.stringify(body)
  }).catch((cause: unknown) => {
    throw new Unreachable(`no service answers at ${url}: is it running, and is OPERATOR_PORT its own?`, { cause })
  })
  if (response.ok) return await use(response)
  throw errorOf(await response.json().catch(() => null), url, response.status)
}

const errorOf = (answer: unknown, url: string, status: number): ServiceError | Unreachable => {
  if (typeof answer === "object" && answer !== null && "error" in answer) {
    const { code, message } = answer.error as { readonly code: string; readonly message: string }
    return new ServiceError(code, message)
  }
  return new Unreachable(`what answers at ${url} (${status}) is not this service's operator port`)
}
