import { Result } from "effect"
import * as IpAddress from "../../../../domain/network/IpAddress.ts"
import * as Flow from "../../Flow.ts"
import * as Grammar from "../Grammar.ts"
import * as Params from "./Params.ts"
import { type Endpoint, header, type SipMessage } from "../SipMessage.ts"

/** A hop of a message, RFC 3261 section 20.42. `host` is as received; an IPv6 address keeps its brackets. */
export interface Via {
  /** Upper case: `UDP`, `TCP`, `TLS`, or any other token. */
  readonly transport: string
  readonly host: string
  /** `null` when the hop names none. */
  readonly port: number | null
  readonly params: Params.Params
}

/** The prefix of every branch of RFC 3261, section 8.1.1.7. */
export const magicCookie = "z9hG4bK"

export const defaultPort = 5060

const pattern =
  /^SIP[ \t]*\/[ \t]*2\.0[ \t]*\/[ \t]*([\w\-.!%*+`'~]+)[ \t]+([\w.-]+|\[[0-9A-Fa-f:.]+\])(?:[ \t]*:[ \t]*([0-9]{1,5}))?[ \t]*(?=;|$)/i

/** Reads one value; fails with the fault. Never throws. */
export const parse = (value: string): Result.Result<Via, string> => {
  const text = Grammar.trimmed(value)
  const match = pattern.exec(text)
  if (match === null) return Result.fail("malformed Via")
  const port = match[3] === undefined ? null : Number(match[3])
  if (port !== null && (port < 1 || port > 65_535)) return Result.fail("malformed Via port")
  const params = Params.parse(text, match[0].length)
  if (params === null) return Result.fail("malformed Via parameter")
  return Result.succeed({ transport: (match[1] ?? "").toUpperCase(), host: match[2] ?? "", port, params })
}

/** All Via values of a message, topmost first. */
export const parseAll = (values: ReadonlyArray<string>): Result.Result<ReadonlyArray<Via>, string> => {
  const all: Array<Via> = []
  for (const element of values.flatMap(Grammar.splitList)) {
    const via = parse(element)
    if (Result.isFailure(via)) return Result.fail(via.failure)
    all.push(via.success)
  }
  return Result.succeed(all)
}

/** The topmost Via of a message; the others are not parsed. */
export const top = (message: SipMessage): Result.Result<Via, string> => {
  const value = header(message, "Via")
  return value === null ? Result.fail("no Via") : parse(Grammar.splitList(value)[0] ?? "")
}

export const format = (via: Via): string =>
  `SIP/2.0/${via.transport} ${via.host}${via.port === null ? "" : `:${via.port}`}${Params.format(via.params)}`

export const branch = (via: Via): string | null => Params.get(via.params, "branch")

/**
 * `request` with its source written into the topmost Via: `received` when sent-by is another address, RFC 3261 section
 * 18.2.1, and the `rport` that the client asked for, RFC 3581 section 4. A `received` or `rport` that came with the
 * request is discarded. A malformed Via stays unchanged.
 */
export const stamped = <Message extends SipMessage>(request: Message, source: Endpoint): Message => {
  const parsed = top(request)
  if (Result.isFailure(parsed)) return request
  const via = parsed.success
  const asked = Params.has(via.params, "rport")
  const differs = literal(via.host) !== source.address
  if (!asked && !differs && !Params.has(via.params, "received")) return request
  let params: Params.Params = via.params.filter(([name]) => name !== "received")
  if (asked) params = Params.set(params, "rport", String(source.port))
  if (asked || differs) params = Params.set(params, "received", source.address)
  let replaced = false
  const headers = request.headers.map((entry) => {
    if (replaced || entry[0] !== "Via") return entry
    replaced = true
    const [, ...others] = Grammar.splitList(entry[1])
    return ["Via", [format({ ...via, params }), ...others].join(", ")] as const
  })
  return { ...request, headers }
}

/**
 * The flow of the response to a request that came by `from` with this (stamped) topmost Via, RFC 3261 section 18.2.2:
 * on a connection it goes back by that connection, or by a new one to the address that the request came from and the
 * port of sent-by.
 */
export const responseFlow = (via: Via, from: Flow.Flow): Flow.Flow => ({
  ...from,
  remote: Flow.isReliable(from)
    ? { address: from.remote.address, port: via.port ?? Flow.defaultPort(from.transport) }
    : responseTarget(via)
})

/** The flow of the responses to a stamped request that came by `from`; that one where its Via is malformed. */
export const responseFlowOf = (request: SipMessage, from: Flow.Flow): Flow.Flow =>
  Result.match(top(request), { onFailure: () => from, onSuccess: (via) => responseFlow(via, from) })

/**
 * The destination over UDP of the response to a request with this (stamped) topmost Via, RFC 3261 section 18.2.2 and
 * RFC 3581 section 4. `address` is a name to resolve only when the Via was never stamped. `maddr` is not followed,
 * because it would let a sender aim our responses at a third party.
 */
export const responseTarget = (via: Via): Endpoint => {
  const rport = Grammar.decimal(Params.get(via.params, "rport") ?? "", 5)
  const port = rport !== null && rport > 0 && rport <= 65_535 ? rport : (via.port ?? defaultPort)
  return { address: literal(Params.get(via.params, "received") ?? via.host), port }
}

/** An IP literal in its canonical spelling, with brackets or without (RFC 5118 section 4.5). A name stays unchanged. */
const literal = (host: string): string => {
  const bare = host.startsWith("[") ? host.slice(1, -1) : host
  return IpAddress.canonical(bare) ?? bare
}
