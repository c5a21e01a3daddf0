import type { Step } from "../../../runtime/actor/Behavior.ts"
import type { CallId } from "../../../domain/Id.ts"
import * as EntityKeys from "../../../runtime/store/vault/EntityKeys.ts"
import { isSettled } from "../machine/CallMachine.ts"
import type { CallInput } from "../machine/CallInput.ts"
import type { CallState } from "../machine/CallState.ts"
import type { Effects } from "../machine/StepBuilder.ts"
import * as CallSealing from "./CallSealing.ts"

/** The encryption keys of live calls. */
export const make = EntityKeys.make<CallId, Step<CallState, CallInput, Effects>>({
  kind: "call",
  sealed: CallSealing.sealed,
  isSettled
})
