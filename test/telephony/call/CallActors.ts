import { Effect } from "effect"
import type { Behavior } from "../../../src/runtime/actor/Behavior.ts"
import * as Registry from "../../../src/runtime/actor/Registry.ts"
import type { CallInput } from "../../../src/telephony/call/machine/CallInput.ts"
import * as CallMachine from "../../../src/telephony/call/machine/CallMachine.ts"
import type { CallState } from "../../../src/telephony/call/machine/CallState.ts"
import type { Effects } from "../../../src/telephony/call/machine/StepBuilder.ts"
import { ApiError } from "../../../src/domain/ApiError.ts"
import type { CallId } from "../../../src/domain/Id.ts"

/** Actors of calls over rows in memory, in the only partition: none is loaded, and none leaves. */
export const make = Effect.fnUntraced(function* <Answer>(
  behavior: Omit<Behavior<CallId, CallState, CallInput, Effects, null, Answer>, "machine" | "lastWill">
) {
  const registry = yield* Registry.make<CallId, CallState, CallInput, Effects, null, Answer>(
    {
      behavior: { ...behavior, machine: CallMachine.machine, lastWill: (reason) => ({ type: "faulted", reason }) },
      since: (state) => state.at,
      offsetMs: (state) => state.timeOffsetMs,
      load: null,
      ended: ApiError.of("call_already_ended", "ended"),
      unknown: ApiError.of("not_found", "unknown"),
      maxLive: 100,
      passivation: null
    },
    Effect.succeed(false)
  )
  yield* registry.hold(0, 0)
  return registry
})
