/**
 * Every error code with its status, guide/errors.md#codes.
 *
 * Where an endpoint answers a code with another status, the place that raises it says so.
 */
export const catalogue = {
  authentication_required: 401,
  invalid_credentials: 401,
  forbidden: 403,
  tenant_suspended: 403,
  balance_insufficient: 402,
  daily_spend_cap_exceeded: 403,
  monthly_spend_cap_exceeded: 403,
  concurrent_call_cap_exceeded: 403,
  auto_recharge_failed: 402,
  payment_method_required: 400,
  payment_failed: 402,
  subscription_invalid: 422,
  topup_amount_too_low: 400,
  from_number_not_owned: 403,
  caller_id_forwarding_not_allowed: 422,
  country_blocked: 403,
  country_not_allowed: 403,
  prefix_blocked: 403,
  call_already_ended: 409,
  call_not_in_required_state: 409,
  recording_not_ready: 409,
  idempotency_conflict: 409,
  idempotency_key_too_long: 400,
  unprocessable: 422,
  no_pricing_tier_configured: 422,
  insufficient_balance: 402,
  order_invalid: 400,
  number_not_yet_active: 409,
  messaging_profile_not_provisioned: 409,
  number_not_found: 404,
  release_not_permitted: 409,
  invalid_target_url: 400,
  event_types_required: 400,
  subscription_not_found: 404,
  signing_secret_unavailable: 404,
  porting_not_supported: 422,
  csr_mismatch: 422,
  documents_required: 422,
  porting_in_progress: 409,
  /** Nothing raises it: an unknown room answers `not_found`. */
  conference_not_found: 404,
  conference_full: 409,
  conference_already_ended: 409,
  member_not_found: 404,
  conference_action_invalid: 409,
  recording_already_stopped: 409,
  streaming_already_active: 409,
  streaming_not_found: 404,
  transcription_already_active: 409,
  transcription_not_active: 409,
  invalid_request: 400,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  rate_limited: 429,
  internal_error: 500,
  upstream_error: 502,
  service_unavailable: 503
} as const satisfies Readonly<Record<string, number>>

export type Code = keyof typeof catalogue

export const statusOf = (code: Code): number => catalogue[code]
