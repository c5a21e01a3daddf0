import { isDeepStrictEqual } from "node:util"
import type { Step } from "../../../runtime/actor/Behavior.ts"
import type { StepContext } from "../../../runtime/actor/Machine.ts"
import { CarrierCommand } from "../../../carrier/CarrierCommand.ts"
import * as Secret from "../../../domain/schema/Secret.ts"
import * as EntityKeys from "../../../runtime/store/vault/EntityKeys.ts"
import { CallInput } from "../machine/CallInput.ts"
import * as CallMachine from "../machine/CallMachine.ts"
import { CallState } from "../machine/CallState.ts"
import type { Effects } from "../machine/StepBuilder.ts"

/**
 * Seals the secrets of a call between the machine and the journal, guide/operation.md#secrets: digits, and URLs that
 * carry more than an address. The machine has them in the clear; the journal keeps each as a `Sealed` under the key of
 * the call. Their places follow from the schemas (`domain/schema/Secret.ts`), so this module knows no verb.
 *
 * In an input, the placeholder of a secret is a value that leads the machine to the same result, so that a replay takes
 * the same path. In a state it is as many dots, or the address without the rest.
 */
const ofInput = Secret.places(CallInput)
const ofState = Secret.places(CallState)
const ofCommand = Secret.places(CarrierCommand)

const stoodIn: Secret.By = (value) => (EntityKeys.is(value) ? value.standIn : value)

/** A stored input in the shape of this version, with placeholders for its secrets. */
export const standInInput = <A>(stored: A): A => ofInput(stored, stoodIn)

/** A stored state in the shape of this version, with placeholders for its secrets. */
export const standInState = <A>(stored: A): A => ofState(stored, stoodIn)

/** A stored state with its secrets opened. A secret for which `open` returns null stays sealed, and does not decode. */
export const openState = <A>(stored: A, open: (sealed: string) => string | null): A =>
  ofState(stored, (value) => (EntityKeys.is(value) ? (open(value.sealed) ?? value) : value))

const masked: Secret.By = (value, kind) => {
  const text = EntityKeys.is(value) ? value.standIn : value
  return typeof text === "string" ? (Secret.shown(kind, text) ?? text) : text
}

/** An input with masked secrets, sealed or not, for the operator. */
export const maskInput = <A>(input: A): A => ofInput(input, masked)
export const maskState = <A>(state: A): A => ofState(state, masked)
export const maskCommand = <A>(command: A): A => ofCommand(command, masked)

type CallStep = Step<CallState, CallInput, Effects>

/**
 * The input and the state of a step as the journal keeps them. Either is the same object when it holds no secret, which
 * only the few fields that can hold one are checked for.
 */
export const sealed = (
  { before, context, effects, input, state }: CallStep,
  seal: (plain: string) => string
): { readonly input: unknown; readonly state: unknown } => {
  let digit: string | null = null
  return {
    input: ofInput(
      input,
      EntityKeys.wrap(seal, (kind, value) => {
        if (kind === "digits") digit ??= standInDigit({ before, context, effects, input, state })
        return inInput(kind, value, digit ?? "0")
      })
    ),
    state: ofState(state, EntityKeys.wrap(seal, inState))
  }
}

const inState = (kind: Secret.Kind, value: string): string =>
  kind === "digits" ? "•".repeat(value.length) : (Secret.shown(kind, value) ?? value)

const inInput = (kind: Secret.Kind, value: string, digit: string): string =>
  kind === "digits" ? value.replaceAll(/[0-9A-D*#]/g, digit) : (Secret.shown(kind, value) ?? value)

const digits = "0123456789*#ABCD".split("")

/**
 * The first digit that leads the machine to the same result as the true one: whether it counts, and whether it
 * completes anything. A digit matters only to work on the call.
 */
const standInDigit = (step: CallStep): string => {
  const [first = "0"] = digits
  const isUnheard = step.input.type === "carrier" && step.before?.work.length === 0
  return isUnheard ? first : (digits.find((digit) => isSame(step, digit)) ?? first)
}

const isSame = ({ before, context, effects, input, state }: CallStep, digit: string): boolean => {
  const otherwise = stepAs(before, input, context, digit)
  return (
    otherwise.type === "accepted" &&
    isDeepStrictEqual(outline(otherwise.state, otherwise.effects), outline(state, effects))
  )
}

const stepAs = (before: CallState | null, input: CallInput, context: StepContext, digit: string) =>
  CallMachine.step(
    before === null ? null : veiled(before),
    ofInput(input, (value, kind) => (typeof value === "string" ? inInput(kind, value, digit) : value)),
    context
  )

const veiled = (state: CallState): CallState =>
  ofState(state, (value, kind) => (typeof value === "string" ? inState(kind, value) : value))

/** The result of a step without its secrets. Two from one state share their unchanged parts, so comparing is quick. */
const outline = (state: CallState, { charges, commands, events }: Effects): ReadonlyArray<unknown> => [
  veiled(state),
  charges,
  commands.map(({ type }) => type),
  events.map(({ type }) => type)
]
