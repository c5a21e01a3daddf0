import { Context } from "effect"

/** `BASE_URL` without a trailing slash, the beginning of every absolute link. */
export class BaseUrl extends Context.Service<BaseUrl, string>()("trunkline/http/BaseUrl") {}
