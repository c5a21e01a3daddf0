import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import * as BaseUrl from "../answer/BaseUrl.ts"
import type { Route } from "../RouteTable.ts"
import * as StaticPage from "../answer/StaticPage.ts"
import * as LinkPage from "./LinkPage.ts"

const password = { type: "password", autocomplete: "new-password", minimum: 10, maximum: 128 } as const

const names = [
  { name: "first_name", label: "First name", type: "text", autocomplete: "given-name", minimum: 1, maximum: 120 },
  { name: "last_name", label: "Last name", type: "text", autocomplete: "family-name", minimum: 1, maximum: 120 }
] as const

/** The pages that links in letters open, guide/mail.md#what-a-letter-looks-like, by path. */
const pages: Readonly<Record<string, LinkPage.LinkPage>> = {
  "/verify-email": {
    title: "Confirm your e-mail address",
    intro: "One click confirms that this address is yours.",
    inputs: [],
    choices: [
      {
        name: "end_earlier_access",
        label:
          "I did not sign up myself: end the password, all keys, logins, other members, invitations and webhooks of the workspace. Then choose a new password."
      }
    ],
    button: "Confirm the address",
    posts: "v1/auth/verify-email",
    done: "Your address is confirmed. You can close this page."
  },
  "/reset-password": {
    title: "Choose a new password",
    intro: "Everybody who is logged in with the old one is logged out.",
    inputs: [{ ...password, name: "new_password", label: "New password, at least 10 characters" }],
    choices: [
      {
        name: "end_earlier_access",
        label:
          "End also what was made before, if others may have been in: your keys and invitations; of an owner, all keys, other members, invitations and webhooks of the workspace."
      }
    ],
    button: "Set the password",
    posts: "v1/auth/password-reset/confirm",
    done: "Your password is changed. You can close this page and log in."
  },
  "/signup": {
    title: "Open a workspace",
    intro: "You were invited to sign up with the address that the invitation came to.",
    inputs: [
      { name: "email", label: "E-mail address", type: "email", autocomplete: "email", minimum: 3, maximum: 254 },
      {
        name: "tenant_name",
        label: "Name of the workspace",
        type: "text",
        autocomplete: "organization",
        minimum: 1,
        maximum: 120
      },
      ...names,
      { ...password, name: "password", label: "Password, at least 10 characters" }
    ],
    button: "Sign up",
    posts: "v1/signup",
    tokenName: "invitation_token",
    done: "You have signed up. Keep this API key, which is not shown again:",
    shows: "api_key_plaintext"
  },
  "/accept-invitation": {
    title: "Join the team",
    intro: "You were invited to a workspace. Choose a password and tell your name.",
    inputs: [...names, { ...password, name: "password", label: "Password, at least 10 characters" }],
    button: "Join",
    posts: "v1/team/invitations/accept",
    done: "You have joined. You can close this page and log in."
  }
}

export const routes: ReadonlyArray<Route> = Object.keys(pages).map((path) => ({ method: "GET", path }))

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const base = yield* BaseUrl.path
    for (const [path, page] of Object.entries(pages))
      yield* router.add("GET", path as `/${string}`, yield* StaticPage.make(LinkPage.of(page, base)))
  })
).pipe(Layer.orDie)
