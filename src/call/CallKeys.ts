import type { Step } from "../actor/Behavior.ts"
import type { CallId } from "../domain/Id.ts"
import * as EntityKeys from "../store/EntityKeys.ts"
import { isSettled } from "./CallMachine.ts"
import type { CallInput } from "./CallInput.ts"
import type { CallState } from "./CallState.ts"
import type { Effects } from "./Draft.ts"
import * as Sealing from "./Sealing.ts"

/** The keys of live calls. */
export const make = EntityKeys.make<CallId, Step<CallState, CallInput, Effects>>({
  kind: "call",
  sealed: Sealing.sealed,
  isSettled
})
