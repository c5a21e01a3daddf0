import { at, listAt, textAt } from "../../demo/Json.ts"
import type { Caller, Walk } from "../Walk.ts"
import type { Tenants } from "./Tenants.ts"

export interface Numbers {
  readonly own: string
  readonly ownId: string
  readonly foreign: string
  readonly orderId: string
  readonly addressId: string
  readonly routeId: string
  readonly draftId: string
}

const street = `"street_address":"1600 Pennsylvania Avenue NW","locality":"Washington","postal_code":"20500"`
const address = `"name":"Walk Ltd",${street},"administrative_area":"DC"`
const endUser =
  `{"entity_name":"Walk Ltd","authorized_person_name":"Ada Walker","account_number":"4711","pin_passcode":"1234",` +
  `"billing_phone_number":"+12025550143","address":{${street},"administrative_area":"DC","country_code":"US"}}`
const pdf = btoa("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF\n")

const order = async (caller: Caller, phone_number: string): Promise<string> => {
  const body = { phone_numbers: [phone_number], country_code: "US", number_type: "local", customer_reference: "walk" }
  const { json } = await caller.ask("POST", "/v1/numbers/order", body, { "idempotency-key": `order ${phone_number}` })
  const id = textAt(json, "id")
  await caller.until(`/v1/numbers/orders/${id}`, (view) => at(view, "status") !== "pending")
  return id
}

const idOf = async (caller: Caller, number: string): Promise<string> =>
  textAt(await caller.until(`/v1/numbers?phone_number=${encodeURIComponent(number)}`, () => true), "results", 0, "id")

/** Numbers that move here; one order is submitted, one cancelled, one deleted and one left as a draft. */
const port = async (main: Caller, other: Caller, peer: string, routeId: string): Promise<string> => {
  let move = ""
  for (const [index, number] of ["+12025550143", "+12025550144", "+12025550145", "+12025550146"].entries()) {
    const made = await main.post("/v1/porting/orders", { phone_numbers: [number], customer_reference: `move ${index}` })
    move = `/v1/porting/orders/${textAt(made.json, "id")}`
    await main.run(`
      POST /v1/porting/orders {"phone_numbers":["${number}"]}
      POST ${move}/submit
      PATCH ${move} {"end_user":{"entity_name":"Walk"},"requested_foc_at":"2999-01-01T00:00:00Z"}
      PATCH ${move} {"end_user":${endUser},"route_id":"${routeId}"}
      POST ${move}/submit {}
      POST ${move}/documents {"document_type":"loa","filename":"loa.pdf","content_base64":"AAAA"}
      POST ${move}/documents {"document_type":"loa","filename":"loa.pdf","content_base64":"*"}
      POST ${move}/documents {"document_type":"loa","filename":"loa.pdf"}
      POST ${move}/documents {"document_type":"loa","filename":"loa.pdf","url":"https://${peer}/short.wav"}
      POST ${move}/documents {"document_type":"loa","filename":"loa.pdf","content_base64":"${pdf}"}
      POST ${move}/documents {"document_type":"invoice","filename":"bill.pdf","content_base64":"${pdf}"}
      GET ${move}/documents`)
    const listed = await main.until(`${move}/documents`, () => true)
    await main.get(`/v1/porting/documents/${textAt(listAt(listed, "results")[0], "id")}`)
    await other.gets(move, ". /documents")
    const ends = ["POST /submit", "POST /submit\nDELETE \nPOST /cancel\nPOST /cancel", "DELETE \nDELETE ", "GET "]
    await main.run((ends[index] ?? "").replaceAll(/^(\w+) /gm, `$1 ${move}`))
    await main.get(move)
  }
  await main.gets("/v1/porting/orders", ". ?status=submitted ?page_size=1 ?status=what ?page=9")
  return move.slice(move.lastIndexOf("/") + 1)
}

/** Searching, ordering, configuring, looking up and releasing numbers, their emergency addresses, and porting. */
export const walk = async ({ peer }: Walk, { main, other, poor }: Tenants): Promise<Numbers> => {
  const routeId = textAt((await main.get("/v1/connections")).json, "results", 0, "id")
  for (const tenant of [main, other]) await tenant.get(`/v1/connections/${routeId}`)
  await main.gets(
    "/v1/numbers/",
    `available available?country_code=US&limit=5 available?country_code=us&number_type=mobile
    available?country_code=DE available?country_code=US&contains=015&limit=3
    available?country_code=US&starts_with=202&ends_with=2 available?country_code=US&locality=washington&region=dc&limit=1
    available?country_code=US&features=voice,sms&limit=2 available?country_code=US&features=fax
    available?country_code=US&national_destination_code=202&limit=2 available?country_code=US&limit=0
    available?country_code=US&limit=101 available?country_code=USA
    toll-free/available?country_code=US toll-free/available?country_code=GB&limit=1`
  )
  const available = await main.get("/v1/numbers/available?country_code=US&limit=30")
  const [a = "", b = "", c = "", d = "", ...rest] = listAt(available.json, "results").map((row) =>
    textAt(row, "phone_number")
  )
  const orderId = await order(main, a)
  await order(main, a)
  await order(main, b)
  await order(other, c)
  await order(poor, d)
  const local = `"country_code":"US","number_type":"local"`
  await poor.run(`POST /v1/numbers/order {"phone_numbers":${JSON.stringify(rest)},${local}}`)
  await other.get(`/v1/numbers/orders/${orderId}`)
  await main.run(`
    idempotency-key=order POST /v1/numbers/order {"phone_numbers":["${a}"],${local}}
    POST /v1/numbers/order {"phone_numbers":["${d}","${d}"],${local}}
    POST /v1/numbers/order {"phone_numbers":["+442071234567"],${local}}
    POST /v1/numbers/order {"phone_numbers":["${d}"],"country_code":"GB","number_type":"local"}
    POST /v1/numbers/order {"phone_numbers":["${d}"],"country_code":"US","number_type":"toll_free"}
    GET /v1/numbers/orders/${orderId}`)
  await main.gets("/v1/numbers/orders", ". ?status=completed ?status=pending ?status=what ?page_size=1 ?page=2")
  await main.gets(
    "/v1/numbers",
    `. ?status=active&country_code=US ?phone_number=%2B${a.slice(1)} ?number_type=mobile ?route_id=${routeId}
    ?page_size=1 ?page_size=1&page=2`
  )
  const ownId = await idOf(main, a)
  const addresses = "/v1/numbers/emergency-addresses"
  const added = await main.run(`
    POST ${addresses} {${address},"country_code":"DE","customer_reference":"office"}
    POST ${addresses} {${address},"country_code":"US","extended_address":"Suite 4"}`)
  const addressId = textAt(added.json, "id")
  const number = `/v1/numbers/${ownId}`
  const released = `/v1/numbers/${await idOf(main, b)}`
  await main.run(`
    GET ${addresses}?page_size=1
    PATCH ${number} {"name":"Front desk","tags":["a","b"],"caller_id_name":"WALK LTD"}
    PATCH ${number} {"tags":["a","a"]}
    PATCH ${number} {"messaging_enabled":true}
    PATCH ${number} {"messaging_enabled":false}
    PATCH ${number} {"route_id":"${routeId}"}
    PATCH ${number} {"route_id":null,"customer_reference":"walk"}
    PATCH ${number} {"inbound_recording":{"enabled":true,"format":"wav","channels":"dual"}}
    PATCH ${number} {"inbound_recording":{"enabled":false}}
    PATCH ${number} {"emergency_address_id":"${addressId}"}
    PATCH ${number} {}
    GET ${number}
    DELETE ${number}
    DELETE ${addresses}/${addressId}
    PATCH ${number} {"emergency_address_id":null}
    DELETE ${released}
    DELETE ${released}
    GET ${released}
    PATCH ${released} {"name":"gone"}
    POST /v1/porting/check {"phone_numbers":["+12025550143","${a}","${c}","+999123456","+442071234567"]}`)
  await other.get(number)
  await main.gets(
    "/v1/numbers/lookup/",
    `%2B12025550150 %2B12025550150?type=caller_name %2B442071234567 %2B4915112345678?type=carrier %2B999123456
    12025550150 %2B12025550150?type=what`
  )
  const draftId = await port(main, other, peer.address, routeId)
  return { own: a, ownId, foreign: c, orderId, addressId, routeId, draftId }
}
