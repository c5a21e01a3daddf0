/** Far ends of the simulated carrier: each is a call of another tenant, whose number calls or is called by the leg. */
import type { Delivered } from "./Delivered.ts"
import { type Far, type FarEnds, keyHeader } from "./Far.ts"
import type { Tenant } from "./World.ts"

/** `sounds`: the URL under which a tone `<ms>.wav` is served. */
export const make = ({ ask, number }: Tenant, delivered: Delivered, sounds: string): FarEnds => {
  const farOf = (id: string): Far => {
    const act = async (verb: string, body?: object): Promise<void> => {
      const answer = await ask("POST", `/v1/calls/${id}/actions/${verb}`, body)
      if (answer.status !== 200) throw new Error(`the far end cannot ${verb}: ${answer.text}`)
    }
    const tape = delivered.of(id)
    const talks = () => tape.next("the far end talks", ({ event_type }) => event_type === "call.answered")
    return {
      answer: () => act("answer"),
      refuse: (cause) => act("reject", { cause }),
      hangUp: () => act("hangup"),
      press: async (digits) => {
        await talks()
        await act("send_dtmf", { digits, duration_millis: 100 })
      },
      say: async (ms) => {
        await talks()
        await act("play", { url: `${sounds}/${ms}.wav` })
      },
      heardDigits: (count) =>
        tape.until(`${count} digits at the far end`, (all) => {
          const digits = all.filter(({ event_type }) => event_type === "call.dtmf").map(({ data }) => data["digit"])
          return digits.length >= count ? digits.slice(0, count).join("") : undefined
        }),
      gone: async () =>
        void (await tape.next("the end of the far end's call", ({ event_type }) => event_type === "call.ended"))
    }
  }
  return {
    number,
    offered: async (key) => {
      const { data } = await delivered.all.next(
        `the far end of ${key} is offered its call`,
        ({ data, event_type }) =>
          event_type === "call.started" &&
          data["direction"] === "inbound" &&
          data["to"] === number &&
          JSON.stringify(data["custom_headers"]).includes(key)
      )
      return farOf(String(data["call_id"]))
    },
    call: async (to, key) => {
      const answer = await ask("POST", "/v1/calls", {
        from: number,
        to,
        custom_headers: [{ name: keyHeader, value: key }]
      })
      if (answer.status !== 201) throw new Error(`the far end cannot call: ${answer.text}`)
      return farOf((answer.json as { readonly id: string }).id)
    }
  }
}
