import { setTimeout as delay } from "node:timers/promises"
import type { World } from "../World.ts"

/**
 * Requests of tenants besides calls, one after the other until stopped: order a number (a debit that must be covered),
 * subscribe, make an API key (answers that hold a secret, and must be the same when they are repeated), top up by card.
 */
export interface Errands {
  /** Completes when the request under way has its answer, or never will. */
  readonly stop: () => Promise<void>
}

const pauseMs = 100

/** Numbers that `csv` puts into the inventory, in order. */
const firstNumber = 13_125_550_000
const numbers = 400

export const csv = [
  "phone_number,country_code,number_type,national_destination_code,upfront_cost_cents,monthly_cost_cents",
  ...Array.from({ length: numbers }, (_, index) => `+${firstNumber + index},US,local,312,3,100`)
].join("\n")

/** Only its amount distinguishes a top-up from the others in the database. */
let topUps = 0

const topUp = (of: { readonly apiKey: string; readonly key: string }) => {
  const cents = 1_000 + topUps++
  return { ...of, path: "/v1/billing/topup", body: { amount_cents: cents }, mark: `top-up ${cents}` }
}

/** `name` begins the keys, unique in one world. */
export const start = (world: World, options: { readonly name: string; readonly random: () => number }): Errands => {
  const stopping = new AbortController()
  const { signal } = stopping

  const errand = async (nth: number): Promise<void> => {
    const tenant = world.tenants[Math.floor(options.random() * world.tenants.length)]
    if (tenant === undefined) throw new Error("there is no tenant")
    const key = `${options.name}-errand${nth}`
    const of = { apiKey: tenant.apiKey, key }
    const choices = [
      {
        ...of,
        path: "/v1/numbers/order",
        // Many of them are sold already: two orders never get one number.
        body: {
          phone_numbers: [`+${firstNumber + Math.floor(options.random() * numbers)}`],
          country_code: "US",
          number_type: "local",
          customer_reference: key
        },
        mark: `order ${key}`
      },
      {
        ...of,
        path: "/v1/webhook-subscriptions",
        // This event never happens here.
        body: {
          target_url: `${world.receiver.baseUrl}/hook/never`,
          event_types: ["webhook.test"],
          description: key
        },
        mark: `subscription ${key}`
      },
      { ...of, path: "/v1/api-keys", body: { name: key }, mark: `key ${key}` },
      topUp(of)
    ]
    const choice = choices[nth % choices.length]
    if (choice !== undefined) await world.client.command(choice)
  }

  const run = async (): Promise<void> => {
    for (let nth = 0; !signal.aborted; nth++) {
      await errand(nth)
      await delay(pauseMs)
    }
  }
  const done = run()
  return {
    stop: async () => {
      stopping.abort()
      await done
    }
  }
}
