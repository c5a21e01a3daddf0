import { OpenApi } from "effect/http-api"
import { Api } from "./Api.ts"

/** The OpenAPI 3.1 document of the declared API, as JSON text; committed as `openapi.json` beside this file. */
export const render = (): string => `${JSON.stringify(OpenApi.fromApi(Api), null, 2)}\n`

/** Where it is served, and the interactive page of it. */
export const documentPath = "/api/docs/openapi.json"
export const pagePath = "/api/docs/"
