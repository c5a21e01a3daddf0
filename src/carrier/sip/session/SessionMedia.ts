/** What the offer and answer of a dialog say, as a session uses it. */
import * as OfferAnswer from "../../../sip/sdp/OfferAnswer.ts"
import type { Body } from "../../../sip/message/Requests.ts"
import type { Output, State } from "./SessionState.ts"

type Connect = Extract<Output, { readonly type: "connect" }>

interface Negotiated {
  readonly state: State
  /** Where sound goes from now on. */
  readonly connect: ReadonlyArray<Connect>
  /** To be sent with the message that asked for it. */
  readonly body: Body | null
  readonly failure: Extract<OfferAnswer.Output, { readonly type: "unacceptable" }> | null
  readonly isGlare: boolean
}

export const step = (state: State, input: OfferAnswer.Input): Negotiated => {
  const { outputs, state: media } = OfferAnswer.step(state.media, input, state.local)
  let body: Body | null = null
  let failure: Negotiated["failure"] = null
  let isGlare = false
  const connect: Array<Connect> = []
  for (const output of outputs)
    switch (output.type) {
      case "send":
        ;({ body } = output)
        break
      case "connect":
        connect.push(output)
        break
      case "glare":
        isGlare = true
        break
      case "unacceptable":
        failure = output
    }
  return { state: { ...state, media }, connect, body, failure, isGlare }
}
