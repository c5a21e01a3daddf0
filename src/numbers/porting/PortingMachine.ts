import { ApiError } from "../../domain/ApiError.ts"
import type { DocumentStatus, DocumentType, EndUser, ExceptionDetail, PortingStatus } from "./PortingView.ts"

/**
 * The life of a porting order, guide/porting.md#states: a pure table over the tenant's requests, the losing carrier's
 * answers as the operator enters them, and time.
 */
export interface State {
  readonly status: PortingStatus
  readonly details: ReadonlyArray<ExceptionDetail>
  /** The fields that the losing carrier contests, each with the value that it was sent. They are stored sealed. */
  readonly contested: ReadonlyArray<Contested>
  readonly focAt: number | null
  readonly losingCarrier: string | null
  readonly submittedAt: number | null
  readonly exceptionAt: number | null
  readonly portedAt: number | null
  readonly cancelledAt: number | null
  /** The status to which a refused cancellation returns. */
  readonly beforeCancel: "submitted" | "foc_confirmed" | null
}

interface Contested {
  readonly field: keyof EndUser
  readonly value: EndUser[keyof EndUser]
}

export const draft: State = {
  status: "draft",
  details: [],
  contested: [],
  focAt: null,
  losingCarrier: null,
  submittedAt: null,
  exceptionAt: null,
  portedAt: null,
  cancelledAt: null,
  beforeCancel: null
}

export type Input =
  /** Requests of the tenant. */
  | { readonly type: "edit"; readonly numbers: boolean }
  | { readonly type: "discard" }
  | {
      readonly type: "submit"
      readonly endUser: EndUser
      readonly documents: ReadonlyArray<{ readonly type: DocumentType; readonly status: DocumentStatus }>
    }
  | { readonly type: "cancel" }
  | { readonly type: "add_document" }
  /** Answers of the losing carrier, entered by the operator. */
  | { readonly type: "exception"; readonly endUser: EndUser; readonly details: ReadonlyArray<ExceptionDetail> }
  | { readonly type: "foc"; readonly at: number; readonly losingCarrier: string | null }
  | { readonly type: "complete" }
  | { readonly type: "carrier_cancelled" }
  | { readonly type: "cancel_refused" }
  /** An exception was not answered for 14 days. */
  | { readonly type: "unanswered" }

type Step =
  | { readonly type: "accepted"; readonly state: State }
  | { readonly type: "unchanged" }
  | { readonly type: "rejected"; readonly error: ApiError }

/** How long an exception waits for its answer. */
export const answerMs = 14 * 24 * 3_600_000

/** Whether the order has ended, and can no longer change. */
export const isOver = ({ status }: Pick<State, "status">): boolean => status === "ported" || status === "cancelled"

/** Whether the losing carrier knows of the order, so that its numbers are claimed here. */
export const claims = ({ status }: Pick<State, "status">): boolean => status !== "draft" && !isOver({ status })

/** The field that an exception disputes, by its code. Other codes dispute no field of the tenant. */
const disputed: Readonly<Partial<Record<ExceptionDetail["code"], keyof EndUser>>> = {
  account_number_mismatch: "accountNumber",
  pin_passcode_mismatch: "pinPasscode",
  entity_name_mismatch: "entityName",
  authorized_person_mismatch: "authorizedPersonName",
  billing_phone_number_mismatch: "billingPhoneNumber",
  address_mismatch: "address"
}

const needed = ["entityName", "authorizedPersonName", "accountNumber", "address"] as const

const wireName: Readonly<Record<keyof EndUser, string>> = {
  entityName: "entity_name",
  authorizedPersonName: "authorized_person_name",
  accountNumber: "account_number",
  pinPasscode: "pin_passcode",
  billingPhoneNumber: "billing_phone_number",
  address: "address"
}

const areSame = (one: EndUser[keyof EndUser], other: EndUser[keyof EndUser]): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

const accepted = (state: State): Step => ({ type: "accepted", state })
const rejected = (...fault: Parameters<typeof ApiError.of>): Step => ({
  type: "rejected",
  error: ApiError.of(...fault)
})
const notNow = ({ status }: State, what: string): Step => rejected("conflict", `the order is ${status}: ${what}`)

export const step = (state: State, input: Input, context: { readonly now: number }): Step => {
  const { now } = context
  switch (input.type) {
    case "edit":
      if (state.status === "draft" || (state.status === "exception" && !input.numbers)) return accepted(state)
      return notNow(
        state,
        input.numbers ? "numbers change in a draft only" : "it changes in a draft or an exception only"
      )
    case "discard":
      return state.status === "draft" ? accepted(state) : notNow(state, "only a draft is deleted; cancel it")
    case "add_document":
      return isOver(state) || state.status === "cancel_pending"
        ? notNow(state, "it takes no documents any more")
        : accepted(state)
    case "submit":
      return submit(state, input, now)
    case "cancel":
      if (state.status === "draft" || state.status === "exception") return accepted(cancelled(state, now))
      if (state.status === "submitted" || state.status === "foc_confirmed")
        return accepted({ ...state, status: "cancel_pending", beforeCancel: state.status })
      return notNow(state, "it cannot be cancelled")
    case "exception":
      if (state.status !== "submitted" && state.status !== "foc_confirmed") return notNow(state, "nothing is under way")
      return accepted({
        ...state,
        status: "exception",
        details: input.details,
        contested: input.details.flatMap(({ code }) => {
          const field = disputed[code]
          return field === undefined ? [] : [{ field, value: input.endUser[field] }]
        }),
        focAt: null,
        exceptionAt: now
      })
    case "foc":
      if (state.status !== "submitted" && state.status !== "foc_confirmed") return notNow(state, "nothing is under way")
      return accepted({
        ...state,
        status: "foc_confirmed",
        details: [],
        contested: [],
        focAt: input.at,
        losingCarrier: input.losingCarrier ?? state.losingCarrier
      })
    case "complete":
      // A carrier may complete the port before it handles a cancellation.
      if (state.status !== "foc_confirmed" && state.status !== "cancel_pending")
        return notNow(state, "no date was confirmed for it")
      return accepted({ ...state, status: "ported", portedAt: now, beforeCancel: null })
    case "carrier_cancelled":
      return claims(state) ? accepted(cancelled(state, now)) : notNow(state, "nothing is under way")
    case "cancel_refused":
      if (state.status !== "cancel_pending" || state.beforeCancel === null)
        return notNow(state, "no cancellation is under way")
      return accepted({ ...state, status: state.beforeCancel, beforeCancel: null })
    case "unanswered":
      return state.status === "exception" && state.exceptionAt !== null && state.exceptionAt + answerMs <= now
        ? accepted(cancelled(state, now))
        : { type: "unchanged" }
  }
}

const cancelled = (state: State, now: number): State => ({
  ...state,
  status: "cancelled",
  contested: [],
  focAt: null,
  cancelledAt: now,
  beforeCancel: null
})

const submit = (state: State, input: Extract<Input, { type: "submit" }>, now: number): Step => {
  if (state.status !== "draft" && state.status !== "exception") return notNow(state, "it has been submitted")
  const missing = needed.find((field) => input.endUser[field] === null)
  if (missing !== undefined)
    return rejected(
      "unprocessable",
      `end_user.${wireName[missing]} is needed before the order can be submitted`,
      `end_user.${wireName[missing]}`
    )
  const has = (type: DocumentType) =>
    input.documents.some((document) => document.type === type && document.status !== "rejected")
  const lacking = (["loa", "invoice"] as const).filter((type) => !has(type))
  if (lacking.length > 0)
    return rejected("documents_required", `the order needs a document of type ${lacking.join(" and one of type ")}`)
  const same = state.contested.find(({ field, value }) => areSame(input.endUser[field], value))
  if (same !== undefined)
    return rejected(
      "csr_mismatch",
      `end_user.${wireName[same.field]} is what the losing carrier's records contradict; change it first`,
      `end_user.${wireName[same.field]}`
    )
  return accepted({
    ...state,
    status: "submitted",
    details: [],
    contested: [],
    submittedAt: now,
    exceptionAt: null
  })
}
