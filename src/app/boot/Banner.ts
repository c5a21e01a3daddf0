import * as IpAddress from "../../domain/network/IpAddress.ts"
import type * as Config from "./config/Config.ts"

const signup = {
  open: "  Sign-up    is open to everybody: SIGNUP=invited or SIGNUP=closed changes that\n",
  invited: "  Sign-up    by invitation: npm run operator -- signup invite ada@example.com\n",
  closed: "  Sign-up    is closed\n"
} as const

const cards = "  Cards      none is charged until STRIPE_SECRET_KEY is set: test cards pay for simulated phones only\n"
const rates =
  "  Rates      none: a minute costs 1 cent, and no satellite, premium, shared-cost or unknown number has a price\n"

/** The text after a successful start, with a first call to try. */
export const text = (
  config: Config.Config,
  version: string,
  { hasRates, httpPort }: { readonly hasRates: boolean; readonly httpPort: number }
) => `
Trunkline ${version} is up.

  API        ${config.baseUrl}/v1/
  Docs       ${config.baseUrl}/api/docs/
  SIP        udp ${IpAddress.host(config.sipHost)}:${config.sipPort}
  Operator   http://127.0.0.1:${config.operatorPort}  (npm run operator -- help)
${signup[config.signup]}${config.payment.stripe === null ? cards : ""}${hasRates ? "" : rates}
A first call, to a simulated phone that answers and echoes:

  curl -s ${config.baseUrl}/v1/signup -H 'Content-Type: application/json' -d '{"email":"me@example.com","password":"correct horse battery","tenant_name":"Example","first_name":"Ada","last_name":"Lovelace"}'
  export KEY=svc_live_…                              # api_key_plaintext of the answer
  curl -s ${config.baseUrl}/v1/numbers/order -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"phone_numbers":["+12025550150"],"country_code":"US","number_type":"local"}'
  curl -s ${config.baseUrl}/v1/calls -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"from":"+12025550150","to":"+12025550100"}'
${httpPort === config.httpPort ? "" : `\n(listening on port ${httpPort})\n`}`
