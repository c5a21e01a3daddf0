import { setTimeout as delay } from "node:timers/promises"
import * as DoorClient from "../../../src/edge/operator/command/DoorClient.ts"
import * as Client from "./peer/Client.ts"
import * as Patience from "./Patience.ts"

/** Requests that set a world up. A busy machine answers some with 503, which has no effect, so they are sent again. */
class Unavailable extends Error {}

const isUnavailable = (error: unknown): boolean =>
  error instanceof Unavailable || (error instanceof DoorClient.ServiceError && error.code === "service_unavailable")

const withinMs = 30_000

const insist = async <A>(ask: () => Promise<A>): Promise<A> => {
  for (const patience = Patience.make(withinMs); ;)
    try {
      return await ask()
    } catch (error) {
      if (!isUnavailable(error) || patience.isOver()) throw error
      await delay(200)
    }
}

/** Asks the operator's door of a data directory. */
export const operate = (
  of: { readonly port: number; readonly dataDir: string },
  operation: string,
  body: object
): Promise<unknown> =>
  insist(() => DoorClient.ask({ OPERATOR_PORT: String(of.port), DATA_DIR: of.dataDir }, operation, body))

/** Asks the API. Without a body it is a GET. */
export const ask = (url: string, bearer: string | null, body: object | null): Promise<never> =>
  insist(async () => {
    const answer = await Client.request(url, {
      method: body === null ? "GET" : "POST",
      ...(bearer === null ? {} : { bearer }),
      ...(body === null ? {} : { body })
    })
    if (answer?.status === 503) throw new Unavailable(`${url}: ${answer.body}`)
    if (answer === null || answer.status >= 300) throw new Error(`${url}: ${answer?.status} ${answer?.body}`)
    return JSON.parse(answer.body) as never
  })
