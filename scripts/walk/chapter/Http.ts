import { at } from "../../demo/Json.ts"
import type { Walk } from "../Walk.ts"
import type { Tenants } from "./Tenants.ts"

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`
const smile = "\u{1f600}"

const bodies = (): ReadonlyArray<string> => [
  ...`  |{|null|1|"a"|[]|{}|{"name":"a"}}|{'name':'a'}|{"name":1e999}|{"name":"\\u0000"}|{"name":"\\ud800"}`.split("|"),
  ...`{"name":"a","name":"b","scopes":["calls:read"]}|{"name":"a","__proto__":{}}`.split("|"),
  `\ufeff{"name":"a","scopes":["calls:read"]}`,
  `{"name":"\u00e4${smile}","scopes":["calls:read"]}`,
  ...[120, 121].map((length) => `{"name":"${smile.repeat(length)}","scopes":["calls:read"]}`),
  ...[15, 16].map((depth) => `{"name":${nested(depth)}}`),
  ...[17, 5000].map(nested),
  `[${"1,".repeat(5000)}1]`,
  `{"name":"${"a".repeat(70_000)}"}`
]

/** Forms of requests that say nothing about an endpoint: paths, methods, headers, bodies and pages. */
export const walk = async ({ as }: Walk, { main }: Tenants): Promise<void> => {
  const nobody = as(null)
  await main.gets(
    "",
    `/ /v1 /v1/ /v2/calls /v1//calls //v1/calls /v1/calls/ /v1/c%61lls /v1/calls%2f /v1/%zz /v1/calls/../account
    /v1/calls/%00 /V1/calls /v1/calls? /v1/calls#a /verify-email /reset-password /accept-invitation /healthz /api/docs
    /api/docs/guide/what /api/docs/what.js /v1/recordings/files/what *`
  )
  for (const method of ["HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "QUERY"])
    for (const path of ["/v1/account", "/v1/calls", "/v1/what", "/api/docs/openapi.json"]) await main.ask(method, path)
  await nobody.ask("OPTIONS", "/v1/account")
  const as1 = (authorization: string | ReadonlyArray<string>) =>
    nobody.ask("GET", "/v1/account", null, { authorization })
  const { key } = main
  for (const form of ["", "Bearer", "Bearer ", `bearer ${key}`, `BEARER  ${key}`, `Basic ${key}`, `${key}`])
    await as1(form)
  for (const form of [`Bearer ${key} `, `Bearer ${key}x`, "Bearer svc_live_short", `Bearer ${"a".repeat(2000)}`])
    await as1(form)
  await as1([`Bearer ${key}`, "Bearer other"])
  const headers = `accept=text/html accept=image/png accept-language=de origin=https://example.com if-none-match=*
    range=bytes=0-3 x-http-method-override=DELETE x-forwarded-for=203.0.113.7 x-forwarded-for=what,203.0.113.7
    accept-encoding=gzip x-request-id=walk cookie=a=b host=example.com idempotency-key=read-1 expect=100-continue
    traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 x-long=${"a".repeat(8000)}`
  for (const header of headers.split(/\s+/)) await main.run(`${header} GET /v1/quota`)
  const types = `application/json;charset=utf-8 application/json;charset=latin1 APPLICATION/JSON text/plain text/json
    application/merge-patch+json application/x-www-form-urlencoded multipart/form-data what`
  const typed = `POST /v1/api-keys/ {"name":"typed","scopes":["calls:read"]}`
  for (const type of types.split(/\s+/)) await main.run(`content-type=${type} ${typed}`)
  await main.run(`content-type= ${typed}\ncontent-encoding=gzip ${typed}`)
  for (const body of bodies()) await main.ask("POST", "/v1/api-keys/", body)
  const key1 = `{"name":"idempotent","scopes":["calls:read"]}`
  await main.run(`
    GET /v1/quota {"name":"a body of a request that reads"}
    DELETE /v1/api-keys/00000000-0000-4000-8000-000000000000/ {}
    idempotency-key=a POST /v1/api-keys/ ${key1}
    idempotency-key=a POST /v1/api-keys ${key1}
    idempotency-key=a POST /v1/%61pi-keys/ ${key1}
    idempotency-key=a POST /v1/api-keys/?what=1 ${key1}
    idempotency-key=a POST /v1/api-keys/ ${key1.replace("idempotent", "b")}
    idempotency-key= POST /v1/api-keys/ ${key1}
    idempotency-key=${"b".repeat(128)} POST /v1/api-keys/ ${key1}
    idempotency-key=${"b".repeat(129)} POST /v1/api-keys/ ${key1}
    idempotency-key=c POST /v1/api-keys/ {}
    idempotency-key=c POST /v1/api-keys/ {}
    idempotency-key=c POST /v1/api-keys/ ${key1}
    idempotency-key=\u00fc POST /v1/api-keys/ ${key1}`)
  await main.gets(
    "/v1/api-keys/?",
    `page=0 page=-1 page=1.5 page=a page= page=1&page=2 page=99999999999999999999 page_size=0 page_size=201
    page_size=1000000 page_size=a cursor= cursor=what cursor=eyJhIjoxfQ cursor=what&page=2 what=1 =1 page%5B%5D=1
    page=%31 page=+1 && page_size=1& %zz=1`
  )
  // A list is read to its end by its own links.
  for (let next = "/v1/api-keys/?page_size=4", pages = 0; next !== "" && pages < 6; pages++) {
    const link = at((await main.get(next)).json, "next")
    next = typeof link === "string" ? new URL(link).pathname + new URL(link).search : ""
  }
}
