/** Credentials towards servers that count the requests of each nonce, as RFC 7616 section 3.4 lets them. */
import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Credentials from "../../../src/carrier/sip/Credentials.ts"
import * as NonceMemory from "../../../src/carrier/sip/NonceMemory.ts"
import * as Digest from "../../../src/protocol/sip/Digest.ts"
import * as Responses from "../../../src/protocol/sip/message/Responses.ts"
import { header, type SipRequest } from "../../../src/protocol/sip/message/SipMessage.ts"
import * as Requests from "../../../src/protocol/sip/message/Requests.ts"
import * as SipSample from "../../support/fake/SipSample.ts"
import * as Random from "../../support/Random.ts"
import * as Ids from "../../support/Ids.ts"
import * as Rig from "./Rig.ts"

const algorithms: ReadonlyArray<Digest.Algorithm> = [
  "MD5",
  "MD5-sess",
  "SHA-256",
  "SHA-256-sess",
  "SHA-512-256",
  "SHA-512-256-sess"
]
const login = { username: "alice", password: "secret" }

interface Options {
  readonly status: 401 | 407
  readonly algorithm: Digest.Algorithm
  readonly qop: "auth" | "none"
  /** How many requests it takes with one nonce. */
  readonly uses: number
  /** Whether it says that a nonce is too old, as RFC 7616 section 3.3 asks. */
  readonly saysStale: boolean
  readonly password?: string
}

/** A server that takes each count of a nonce once, and only a higher one than before. */
const server = (name: string, { algorithm, password = login.password, qop, saysStale, status, uses }: Options) => {
  let nonces = 0
  let taken = 0
  let last = 0
  const nonce = () => `${name}-${nonces}`
  const seen = new Set<string>()
  const replayed: Array<string> = []
  const challenge = (stale: boolean): readonly [status: 401 | 407, value: string] => {
    if (taken >= uses || nonces === 0) {
      nonces++
      taken = 0
      last = 0
    }
    return [status, Digest.formatChallenge({ realm: name, nonce: nonce(), opaque: "o", algorithm, qop, stale })]
  }
  return {
    replayed,
    /** Null when the request is accepted. */
    judge: (request: SipRequest): readonly [status: 401 | 407, value: string] | null => {
      const value = header(request, Digest.answerHeader(status))
      const given = value === null ? null : Result.getOrNull(Digest.parseCredentials(value))
      if (given === null) return challenge(false)
      const use = `${given.nonce} ${given.protection?.count ?? "-"}`
      if (qop === "auth" && seen.has(use)) replayed.push(use)
      seen.add(use)
      if (given.realm !== name || given.uri !== request.uri) return challenge(false)
      if (!Digest.verify(given, Digest.ha1(algorithm, login.username, name, password), request.method))
        return challenge(false)
      const isLive = given.nonce === nonce() && taken < uses
      if (!isLive || (given.protection !== null && given.protection.count <= last)) return challenge(saysStale)
      taken++
      last = given.protection?.count ?? 0
      return null
    }
  }
}

type Server = ReturnType<typeof server>

/** Sends a request, and repeats it as often as the servers on its way want. `sent` is null when it was refused. */
const send = (servers: ReadonlyArray<Server>, method: string, before: Credentials.Nonces, cnonce: () => string) => {
  let { nonces, request } = Credentials.signed(login, SipSample.request(method), before)
  let { none: credentials } = Credentials
  for (let sent = 1; ; sent++) {
    const challenge = servers.map(({ judge }) => judge(request)).find((verdict) => verdict !== null)
    if (challenge === undefined) return { nonces, sent, request }
    const [status, value] = challenge
    const name = status === 401 ? "WWW-Authenticate" : "Proxy-Authenticate"
    const response = Responses.make(request, status, { headers: [[name, value]] })
    const answer = Credentials.answer(credentials, login, request, response, cnonce(), nonces)
    ;({ nonces } = answer)
    if (answer.again === null) return { nonces, sent: null, request }
    ;({ credentials } = answer.again)
    request = Requests.again(request, sent + 1, answer.again.headers)
  }
}

describe("the requests of one trunk", () => {
  it.prop(
    "are each accepted, without a count that a nonce had before, and at once while the nonce lives",
    { seed: Schema.Int },
    ({ seed }) => {
      const random = Random.make(seed)
      const qop = random.chance(0.8) ? "auth" : "none"
      const uses = 1 + random.below(6)
      const saysStale = random.chance(0.5)
      const algorithm = algorithms[random.below(algorithms.length)] ?? "MD5"
      const one = server("server", { status: 401, algorithm, qop, uses, saysStale })
      let cnonces = 0
      let nonces = Credentials.noNonces
      let free = 0
      for (let each = 0; each < 20; each++) {
        const method = ["INVITE", "BYE", "INFO", "REFER"][random.below(4)] ?? "INVITE"
        const done = send([one], method, nonces, () => `c${++cnonces}`)
        ;({ nonces } = done)
        expect(done.sent).toBe(free > 0 ? 1 : 2)
        free = free > 0 ? free - 1 : uses - 1
      }
      expect(one.replayed).toEqual([])
    }
  )

  it.prop("count on for a server and a proxy at once, whichever challenges", { seed: Schema.Int }, ({ seed }) => {
    const random = Random.make(seed)
    const options = () => ({
      algorithm: algorithms[random.below(algorithms.length)] ?? "MD5",
      qop: "auth" as const,
      uses: 2 + random.below(5),
      saysStale: true
    })
    const proxy = server("proxy", { ...options(), status: 407 })
    const far = server("server", { ...options(), status: 401 })
    let cnonces = 0
    let nonces = Credentials.noNonces
    for (let each = 0; each < 12; each++) {
      const done = send([proxy, far], "INVITE", nonces, () => `c${++cnonces}`)
      ;({ nonces } = done)
      expect(done.sent).not.toBe(null)
    }
    expect([...proxy.replayed, ...far.replayed]).toEqual([])
  })

  it("are refused once where the password is wrong, and the next one begins without credentials", () => {
    const wrong = server("server", {
      status: 401,
      algorithm: "MD5",
      qop: "auth",
      uses: 9,
      saysStale: true,
      password: "other"
    })
    const first = send([wrong], "INVITE", Credentials.noNonces, () => "c")
    expect(first.sent).toBe(null)
    expect(first.nonces).toEqual({})
    expect(header(Credentials.signed(login, SipSample.request("INVITE"), first.nonces).request, "Authorization")).toBe(
      null
    )
  })

  it("count on where a server repeats its nonce in each challenge", () => {
    const value = 'Digest realm="r", nonce="n", qop="auth"'
    let nonces = Credentials.noNonces
    const counts: Array<number | null> = []
    for (const method of ["INVITE", "BYE", "INVITE"]) {
      const request = SipSample.request(method)
      const response = Responses.make(request, 401, { headers: [["WWW-Authenticate", value]] })
      const answer = Credentials.answer(Credentials.none, login, request, response, "c", nonces)
      ;({ nonces } = answer)
      const given = Digest.parseCredentials(answer.again?.headers[0]?.[1] ?? "")
      counts.push(Result.getOrThrow(given).protection?.count ?? null)
    }
    expect(counts).toEqual([1, 2, 3])
  })
})

describe("the memory of nonces", () => {
  const nonces = (nonce: string): Credentials.Nonces => ({
    Authorization: {
      challenge: Result.getOrThrow(Digest.parseChallenge(`Digest realm="r", nonce="${nonce}", qop="auth"`)),
      cnonce: "c",
      count: 1
    }
  })

  it("has none for a trunk whose address or login changed", () => {
    const memory = NonceMemory.make()
    memory.keep(Rig.trunk, nonces("n"))
    expect(memory.of({ ...Rig.trunk })).toEqual(nonces("n"))
    for (const changed of [{ host: "192.0.2.3" }, { port: 5070 }, { username: "u" }, { password: "p" }])
      expect(memory.of({ ...Rig.trunk, ...changed })).toEqual({})
    expect(memory.of({ ...Rig.trunk, routeId: Ids.route("other") })).toEqual({})
  })

  it("forgets the trunk that it kept longest ago, beyond its limit", () => {
    const memory = NonceMemory.make(2)
    const trunk = (name: string) => ({ ...Rig.trunk, routeId: Ids.route(name) })
    for (const name of ["a", "b", "a", "c"]) memory.keep(trunk(name), nonces(name))
    expect(["a", "b", "c"].map((name) => memory.of(trunk(name)))).toEqual([nonces("a"), {}, nonces("c")])
  })
})
