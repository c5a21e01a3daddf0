import { expect } from "vitest"
import type { Event } from "../crash/support/peer/Receiver.ts"
import * as TestServer from "../edge/http/TestServer.ts"
import type { World } from "./world/World.ts"

/** The call or room that a row is about, with its actions and its webhooks. */
export interface Subject<View> {
  readonly id: string
  readonly path: string
  readonly find: () => Promise<View>
  /** Sends an action that is accepted. */
  readonly act: (verb: string, body?: object) => Promise<View>
  /** Sends an action that is refused; returns the refusal, as `409 conflict`. */
  readonly refused: (verb: string, body?: object) => Promise<string>
  /** The data of the `nth` webhook of this type that fits. */
  readonly event: (type: string, nth?: number, fits?: (data: Event["data"]) => boolean) => Promise<Event["data"]>
  /** The webhooks so far, by their numbers: those of a room arrive in no order between its members. */
  readonly told: () => ReadonlyArray<Event>
  readonly types: () => ReadonlyArray<string>
  /** Reads it until the condition holds, for changes without an event. */
  readonly until: (what: string, reached: (view: View) => boolean) => Promise<View>
}

export const codeOf = (answer: TestServer.Answer): string => `${answer.status} ${String(TestServer.codeOf(answer))}`

/** A subject by its paths. Its actions and refusals are noted, for the check at the end of the rows. */
export const make = <View>(
  { running, seen, tenant }: World,
  of: {
    readonly id: string
    readonly path: string
    /** The path for reading it. */
    readonly self: string
    readonly action: (verb: string) => string
    /** The state under which the matrix notes a verb. */
    readonly stateOf: (view: View) => string
  }
): Subject<View> => {
  const { action, id, path, self, stateOf } = of
  const tape = running().delivered.of(id)
  const told = () => tape.all.toSorted((one, other) => one.sequence - other.sequence)
  const find = async (): Promise<View> => {
    const answer = await tenant.ask("GET", self)
    expect(answer.status, answer.text).toBe(200)
    return answer.json as View
  }
  const ask = async (verb: string, body: object | undefined) => {
    const before = stateOf(await find())
    return { before, answer: await tenant.ask("POST", action(verb), body) }
  }
  return {
    id,
    path,
    find,
    act: async (verb, body) => {
      const { answer, before } = await ask(verb, body)
      expect([verb, answer.status, answer.status === 200 ? null : answer.text]).toEqual([verb, 200, null])
      seen.verb(verb, before, "200")
      seen.body(verb, body ?? {})
      return answer.json as View
    },
    refused: async (verb, body) => {
      const { answer, before } = await ask(verb, body)
      const code = String(TestServer.codeOf(answer))
      expect(answer.status, `${verb} was not refused`).toBeGreaterThanOrEqual(400)
      seen.verb(verb, before, code)
      seen.error(code)
      return codeOf(answer)
    },
    event: async (type, nth = 1, fits = () => true) =>
      (
        await tape.until(
          `${type} (${nth}) of ${id}`,
          (all) => all.filter(({ data, event_type }) => event_type === type && fits(data))[nth - 1]
        )
      ).data,
    told,
    types: () => told().map(({ event_type }) => event_type),
    until: async (what, reached) => {
      for (let waited = 0; waited < 20_000; waited += 20) {
        const view = await find()
        if (reached(view)) return view
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      throw new Error(`in vain: ${what}, of ${JSON.stringify(await find())}`)
    }
  }
}
