import { type EndpointScope, endpointScopes, grants, type Scope } from "./Scope.ts"

/** The roles of members, guide/team.md#roles: each is a name for a list of scopes. */
export const roles = ["owner", "admin", "developer", "billing", "viewer"] as const
export type Role = (typeof roles)[number]

const startingWith = (...starts: ReadonlyArray<string>): ReadonlyArray<EndpointScope> =>
  endpointScopes.filter((scope) => starts.some((starting) => scope.startsWith(starting)))

const table: Readonly<Record<Role, { readonly name: string; readonly scopes: ReadonlyArray<Scope> }>> = {
  owner: { name: "Owner", scopes: ["*"] },
  admin: { name: "Administrator", scopes: ["*"] },
  developer: {
    name: "Developer",
    scopes: startingWith("calls:", "webhooks:", "connection:read", "account:read", "usage:read", "api_keys:read")
  },
  billing: { name: "Billing", scopes: startingWith("account:read", "usage:read", "billing:") },
  viewer: { name: "Viewer", scopes: endpointScopes.filter((scope) => scope.endsWith(":read")) }
}

export const isRole = (name: string): name is Role => (roles as ReadonlyArray<string>).includes(name)

/** The scopes of a role; none for a role that this program does not know. */
export const scopesOf = (role: string): ReadonlyArray<string> => (isRole(role) ? table[role].scopes : [])

export const nameOf = (role: Role): string => table[role].name

/** The scopes that both allow. */
export const within = (scopes: ReadonlyArray<string>, role: string): ReadonlyArray<string> => {
  const allowed = scopesOf(role)
  if (allowed.includes("*")) return scopes
  return scopes.includes("*") ? allowed : scopes.filter((scope) => grants(allowed, scope))
}

/** The author of a change to members. */
export interface Actor {
  /** The scopes it has now. */
  readonly scopes: ReadonlyArray<string>
  /** The role of the member that it is or belongs to; null: a key without a member, which acts as the tenant. */
  readonly role: string | null
}

/**
 * Whether the actor may give this role, or change or remove a member with it: only with all scopes of the role, and an
 * owner's only as an owner.
 */
export const covers = ({ role, scopes }: Actor, other: Role): boolean =>
  scopesOf(other).every((scope) => grants(scopes, scope)) && (other !== "owner" || role === null || role === "owner")
