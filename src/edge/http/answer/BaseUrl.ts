import { Context, Effect } from "effect"

/** `BASE_URL` without a trailing slash, the beginning of every absolute link. */
export class BaseUrl extends Context.Service<BaseUrl, string>()("trunkline/http/BaseUrl") {}

/**
 * The path of `BASE_URL` without a trailing slash; empty where it has none. A proxy serves the API under it and removes
 * it, so each link in a page begins with it.
 */
export const path = Effect.map(BaseUrl, (url) => new URL(url).pathname.replace(/\/$/, ""))
