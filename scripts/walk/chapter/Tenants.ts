import { textAt } from "../../demo/Json.ts"
import type { Caller, Walk } from "../Walk.ts"

export interface Tenants {
  readonly main: Caller
  readonly other: Caller
  /** Has nothing but its trial credit. */
  readonly poor: Caller
  /** A key of the main tenant that may only read calls. */
  readonly narrow: Caller
}

const password = "correct horse battery"

const signup = (name: string, further: object = {}) => ({
  email: `${name}@walk.example`,
  password,
  tenant_name: `Walk ${name}`,
  first_name: "Ada",
  last_name: "Walker",
  ...further
})

/** Signup, verification, login, team, keys and the account. */
export const walk = async ({ as, operator, peer, token }: Walk): Promise<Tenants> => {
  const nobody = as(null)
  const keyOf = async (path: string, body: object, by: Caller = nobody) =>
    as(textAt((await by.post(path, body)).json, "api_key_plaintext"))
  const main = await keyOf("/v1/signup", signup("main", { legal_name: "Walk Ltd", country: "us" }))
  const failover = { webhook_failover_url: `https://${peer.address}/failover` }
  const other = await keyOf("/v1/signup", signup("other", failover))
  const poor = await keyOf("/v1/signup", signup("poor", { tenant_name: "Walk main" }))
  const again = JSON.stringify(signup("again"))
  await nobody.run(`
    POST /v1/signup ${JSON.stringify(signup("main"))}
    idempotency-key=signup-1 POST /v1/signup ${again}
    idempotency-key=signup-1 POST /v1/signup ${again}
    idempotency-key=signup-1 POST /v1/signup ${again.replace("Ada", "Eve")}`)
  await operator("tenant", "credit", "walk-main", "--cents", "500000", "--reason", "a walk")
  await operator("tenant", "credit", "walk-other", "--cents", "5000", "--reason", "a walk")
  await operator("tenant", "quota", "walk-main", "--daily", "none", "--monthly", "none", "--concurrent", "100")
  await operator("tenant", "quota", "walk-main-2", "--daily", "1")

  const address = "main@walk.example"
  const verification = await token("verify-email", address)
  await nobody.run(`
    POST /v1/auth/verify-email {"token":"${verification}"}
    POST /v1/auth/verify-email {"token":"${verification}"}
    POST /v1/auth/verify-email {"token":"unknown"}
    POST /v1/auth/verify-email/resend {"email":"${address}"}
    POST /v1/auth/verify-email/resend {"email":"nobody@walk.example"}
    POST /v1/auth/password-reset {"email":"${address}"}
    POST /v1/auth/password-reset {"email":"nobody@walk.example"}`)
  const reset = await token("reset-password", address)
  await nobody.run(`
    POST /v1/auth/password-reset/confirm {"token":"${reset}","new_password":"${password}!"}
    POST /v1/auth/password-reset/confirm {"token":"${reset}","new_password":"${password}!"}
    POST /v1/auth/login {"email":"${address}","password":"${password}"}
    POST /v1/auth/login {"email":"nobody@walk.example","password":"${password}"}`)
  const person = await keyOf("/v1/auth/login", { email: address, password: `${password}!` })

  await person.gets("/v1/team/", "members roles members?page=2")
  const invitations: Array<string> = []
  for (const role of ["admin", "developer", "billing", "viewer", "owner"]) {
    const invited = await person.post("/v1/team/invitations", { email: `${role}@walk.example`, role })
    invitations.push(textAt(invited.json, "id"))
  }
  const first = `/v1/team/invitations/${invitations[0]}`
  await person.run(`
    POST /v1/team/invitations {"email":"viewer@walk.example","role":"developer"}
    POST /v1/team/invitations {"email":"${address}","role":"developer"}
    GET /v1/team/invitations
    GET /v1/team/invitations?page_size=2&page=2
    GET /v1/team/invitations?page=9
    GET ${first}
    DELETE ${first}
    DELETE ${first}
    GET ${first}`)
  const members: Array<string> = []
  for (const name of ["developer", "billing", "viewer", "owner"]) {
    const invitation = await token("accept-invitation", `${name}@walk.example`)
    const body = { token: invitation, password, first_name: name, last_name: "Walker" }
    members.push(textAt((await nobody.post("/v1/team/invitations/accept", body)).json, "id"))
    if (name === "owner") await nobody.post("/v1/team/invitations/accept", body)
  }
  const [developer, billing, viewer] = members.map((id) => `/v1/team/members/${id}`)
  const login = { email: "developer@walk.example", password }
  const worker = await keyOf("/v1/auth/login", login)
  await worker.gets("/v1/", "account team/members billing/balance calls")
  await worker.post("/v1/api-keys/", { name: "not allowed" })
  await person.run(`
    PATCH ${developer} {"role":"viewer"}
    PATCH ${developer} {"status":"disabled"}`)
  await worker.get("/v1/account")
  await other.run(`PATCH ${viewer} {"role":"viewer"}`)
  await person.run(`
    PATCH ${developer} {"status":"active","role":"owner"}
    PATCH ${viewer} {}
    DELETE ${developer}
    DELETE ${billing}
    DELETE ${billing}
    GET /v1/team/members?page_size=2`)

  const scopes = ["calls:read"]
  const narrow = await keyOf("/v1/api-keys/", { name: "narrow", scopes, expires_at: "2999-01-01T00:00:00+02:00" }, main)
  await narrow.gets("/v1/", "calls account api-keys/")
  const maker = { name: "maker", scopes: ["api_keys:write", "api_keys:revoke", "calls:read"] }
  await (
    await keyOf("/v1/api-keys/", maker, main)
  ).run(`
    POST /v1/api-keys/ {"name":"more","scopes":["*"]}
    POST /v1/api-keys/ {"name":"less","scopes":["calls:read"]}`)
  await main.run(`
    POST /v1/api-keys/ {"name":"none","scopes":[]}
    POST /v1/api-keys/ {"name":"what","scopes":["what:read"]}
    POST /v1/api-keys/ {"name":"past","expires_at":"2001-01-01T00:00:00Z"}
    idempotency-key=key-1 POST /v1/api-keys/ {"name":"once"}
    idempotency-key=key-1 POST /v1/api-keys/ {"name":"once"}`)
  const revoked = await main.post("/v1/api-keys/", { name: "revoked", scopes: ["account:read"] })
  const gone = `/v1/api-keys/${textAt(revoked.json, "id")}/`
  for (const method of ["GET", "DELETE", "DELETE", "GET"]) await main.ask(method, gone)
  await as(textAt(revoked.json, "api_key_plaintext")).get("/v1/account")
  await main.gets("/v1/api-keys/", ". ?page_size=3 ?page=2&page_size=3")

  for (const tenant of [main, other, poor]) await tenant.gets("/v1/", "account quota billing/balance")
  for (const url of [`https://${peer.address}/hooks`, "http://example.com/", "https://user@127.0.0.1/", null])
    await main.ask("PATCH", "/v1/account", { webhook_failover_url: url })
  return { main, other, poor, narrow }
}
