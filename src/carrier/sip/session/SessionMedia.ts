/** Offer and answer within a session. */
import * as OfferAnswer from "../../../protocol/sip/sdp/OfferAnswer.ts"
import type { Body } from "../../../protocol/sip/message/Requests.ts"
import type { Output, State } from "./SessionState.ts"

type Connect = Extract<Output, { readonly type: "connect" }>

interface Negotiated {
  readonly state: State
  /** The connections to point the media at; empty when nothing changes. */
  readonly connect: ReadonlyArray<Connect>
  /** The description to send in our message; null when it has none. */
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
