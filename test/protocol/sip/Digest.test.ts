import { hash } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Digest from "../../../src/protocol/sip/Digest.ts"

const challenge = (value: string) => Result.getOrThrow(Digest.parseChallenge(value))
const credentials = (value: string) => Result.getOrThrow(Digest.parseCredentials(value))

describe("RFC 7616 section 3.9.1: its example", () => {
  const nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
  const opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
  it.each([
    ["MD5", "8ca523f5e9506fed4657c9700eebdbec"],
    ["SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"]
  ])("%s gives its response", (algorithm, response) => {
    const value = Digest.authorization({
      challenge: challenge(
        `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="${nonce}", opaque="${opaque}"`
      ),
      username: "Mufasa",
      password: "Circle of Life",
      method: "GET",
      uri: "/dir/index.html",
      cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
      count: 1
    })
    expect(value).toContain(`response="${response}"`)
    expect(value).toContain("qop=auth, nc=00000001")
  })
})

it("RFC 2617 section 3.5: answers its example", () => {
  const value = Digest.authorization({
    challenge: challenge(
      'Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"'
    ),
    username: "Mufasa",
    password: "Circle Of Life",
    method: "GET",
    uri: "/dir/index.html",
    cnonce: "0a4f113b",
    count: 1
  })
  expect(value).toContain('response="6629fae49393a05397450978507c4ef1"')
})

it("RFC 2069: answers a challenge without qop without cnonce and count", () => {
  const value = Digest.authorization({
    challenge: challenge('Digest realm="r", nonce="n"'),
    username: "u",
    password: "p",
    method: "INVITE",
    uri: "sip:a",
    cnonce: "c",
    count: 1
  })
  expect(value).not.toContain("cnonce")
  expect(Digest.verify(credentials(value), Digest.ha1("MD5", "u", "r", "p"), "INVITE")).toBe(true)
})

describe("a session algorithm, RFC 7616 section 3.4.2", () => {
  for (const [algorithm, name] of [
    ["MD5-sess", "md5"],
    ["SHA-256-sess", "sha256"],
    ["SHA-512-256-sess", "sha512-256"]
  ] as const)
    it(`${algorithm} has both nonces in its secret, and counts the requests of the session`, () => {
      for (const count of [1, 2]) {
        const value = Digest.authorization({
          challenge: challenge(`Digest realm="r", nonce="n", qop="auth", algorithm=${algorithm.toUpperCase()}`),
          username: "u",
          password: "p",
          method: "BYE",
          uri: "sip:a@b",
          cnonce: "c",
          count
        })
        const a1 = hash(name, `${hash(name, "u:r:p")}:n:c`)
        const nc = `0000000${count}`
        const response = hash(name, `${a1}:n:${nc}:c:auth:${hash(name, "BYE:sip:a@b")}`)
        expect(value).toContain(`response="${response}", algorithm=${algorithm}, cnonce="c", qop=auth, nc=${nc}`)
      }
    })

  it("names our nonce without qop too, because the server needs it", () => {
    const value = Digest.authorization({
      challenge: challenge('Digest realm="r", nonce="n", algorithm=MD5-sess'),
      username: "u",
      password: "p",
      method: "BYE",
      uri: "sip:a@b",
      cnonce: "c",
      count: 1
    })
    expect(value).toContain('cnonce="c"')
    expect(value).not.toContain("nc=")
    expect(Digest.verify(credentials(value), Digest.ha1("MD5-sess", "u", "r", "p"), "BYE")).toBe(true)
  })
})

describe("choice of a challenge, RFC 8760", () => {
  const md5 = 'Digest realm="r", nonce="m", qop="auth"'
  const sha = 'Digest realm="r", nonce="s", qop="auth", algorithm=SHA-256'

  it("takes the strongest supported, else the topmost", () => {
    for (const values of [
      [md5, sha],
      [sha, md5],
      ["Basic realm=x", sha, md5]
    ])
      expect(Digest.choose(values, null)).toMatchObject({ type: "answer", challenge: challenge(sha) })
    expect(Digest.choose([md5, 'Digest realm="q", nonce="2"'], null)).toMatchObject({ challenge: challenge(md5) })
  })

  it("takes a session form as it takes the plain one", () => {
    const session = 'Digest realm="r", nonce="x", qop="auth", algorithm=SHA-256-sess'
    expect(Digest.choose([md5, session], null)).toMatchObject({ challenge: { algorithm: "SHA-256-sess" } })
    expect(Digest.choose([sha, session], null)).toMatchObject({ challenge: { algorithm: "SHA-256" } })
    expect(Digest.choose([session, sha], null)).toMatchObject({ challenge: { algorithm: "SHA-256-sess" } })
  })

  it("says so when none is supported", () => {
    const unsupported = [
      "NoOneKnows x=y",
      'Digest realm="r", nonce="n", algorithm=AKAv1-MD5',
      'Digest realm="r", nonce="n", qop="auth-int"',
      'Digest realm="r"'
    ]
    expect(Digest.choose(unsupported, null)).toStrictEqual({ type: "unsupported" })
  })

  it("gives up when the same realm asks again, but not for a stale nonce or another realm", () => {
    const attempted = challenge(md5)
    expect(Digest.choose([md5], attempted).type).toBe("refused")
    expect(Digest.choose(['Digest realm="r", nonce="n2", stale=TRUE'], attempted).type).toBe("answer")
    expect(Digest.choose(['Digest realm="other", nonce="n2"'], attempted).type).toBe("answer")
  })
})

describe("verification", () => {
  const text = Schema.String.check(Schema.isPattern(/^[ -~\u00a1-\u07ff]{1,20}$/))
  it.prop(
    "accepts what authorization makes, and nothing else",
    {
      username: text,
      password: text,
      realm: text,
      nonce: text,
      algorithm: Schema.Literals(["MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "SHA-512-256", "SHA-512-256-sess"]),
      qop: Schema.Literals(["auth", "none"])
    },
    ({ algorithm, nonce, password, qop, realm, username }) => {
      const offered = challenge(Digest.formatChallenge({ realm, nonce, algorithm, qop, opaque: "o", stale: false }))
      const value = Digest.authorization({
        challenge: offered,
        username,
        password,
        method: "INVITE",
        uri: "sip:a@b",
        cnonce: "c",
        count: 31
      })
      const given = credentials(value)
      const secret = Digest.ha1(algorithm, username, realm, password)
      expect(given).toMatchObject({ username, realm, nonce, opaque: "o" })
      expect(Digest.verify(given, secret, "INVITE")).toBe(true)
      expect(Digest.verify(given, secret, "BYE")).toBe(false)
      expect(Digest.verify({ ...given, nonce: `${nonce}x` }, secret, "INVITE")).toBe(false)
      expect(Digest.verify(given, Digest.ha1(algorithm, username, realm, `${password}x`), "INVITE")).toBe(false)
      expect(Digest.verify({ ...given, response: "short" }, secret, "INVITE")).toBe(false)
    },
    { arbitrary: { runs: 300 } }
  )

  it.each([
    "",
    "Digest",
    'Digest username="u"',
    'Digest username="u, realm="r"',
    "Basic abc",
    'Digest username="u",realm="r",nonce="n",uri="x",response="y",qop=auth,nc=1,cnonce="c"',
    'Digest username="u",username="v",realm="r",nonce="n",uri="x",response="y"'
  ])("refuses %j", (value) => expect(Result.isFailure(Digest.parseCredentials(value))).toBe(true))

  it.prop(
    "no text makes it throw",
    { value: Schema.String },
    ({ value }) => {
      void [
        Digest.parseChallenge(`Digest ${value}`),
        Digest.parseCredentials(`Digest ${value}`),
        Digest.choose([value], null)
      ]
    },
    { arbitrary: { runs: 1000 } }
  )
})
