/** Every scope, spec §5 and decision 2.7. `*` grants all. */
export const scopes = [
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
  "team:write",
  "*"
] as const

export type Scope = (typeof scopes)[number]

export const isScope = (name: string): name is Scope => (scopes as ReadonlyArray<string>).includes(name)

/** Whether a key with `held` may do, or pass on, `wanted` (spec §5, rule 4). */
export const grants = (held: ReadonlyArray<string>, wanted: string): boolean =>
  held.includes("*") || held.includes(wanted)
