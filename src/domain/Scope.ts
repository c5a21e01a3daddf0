/** The scopes that endpoints require, guide/authentication.md#scopes. */
export const endpointScopes = [
  "calls:read",
  "calls:write",
  "account:read",
  "usage:read",
  "billing:read",
  "billing:write",
  "webhooks:read",
  "webhooks:write",
  "connection:read",
  "audit:read",
  "api_keys:read",
  "api_keys:write",
  "api_keys:revoke",
  "numbers:read",
  "numbers:write",
  "team:read",
  "team:write"
] as const
export type EndpointScope = (typeof endpointScopes)[number]

/** The scopes that a key may hold: any of those, or `*` for all. */
export const scopes = [...endpointScopes, "*"] as const
export type Scope = (typeof scopes)[number]

export const isScope = (name: string): name is Scope => (scopes as ReadonlyArray<string>).includes(name)

/** Whether a key with `held` has, and may pass on, the scope `wanted`. */
export const grants = (held: ReadonlyArray<string>, wanted: string): boolean =>
  held.includes("*") || held.includes(wanted)
