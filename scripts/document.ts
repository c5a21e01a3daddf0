/**
 * Checks the published document with a linter of others, by its recommended rules: `src/edge/http/openapi.json` is
 * written by this program alone, and clients are generated from it by programs that read it as the linter does.
 */
import { fileURLToPath } from "node:url"

interface Problem {
  readonly ruleId: string
  readonly message: string
  readonly location: ReadonlyArray<{ readonly pointer?: string }>
}

/** The part of `@redocly/openapi-core` that is used here. */
interface Linter {
  readonly createConfig: (config: object) => Promise<unknown>
  readonly lint: (of: { readonly ref: string; readonly config: unknown }) => Promise<ReadonlyArray<Problem>>
}

/** The places where the API has to be as the rule does not want it, by the rule. */
const asked: Readonly<Record<string, RegExp>> = {
  // These paths end with a slash for the clients that are there.
  "no-path-trailing-slash": /^#\/paths\/[^/]+~1$/,
  // A signing secret is shown at its creation only, so this operation always answers 404.
  "operation-2xx-response": /^#\/paths\/~1v1~1webhook-subscriptions~1\{id\}~1signing-secret\/get\/responses$/
}

// The name is a value, so that no types of the linter's own dependencies are compiled with this program.
const name: string = "@redocly/openapi-core"
const { createConfig, lint } = (await import(name)) as Linter
const problems = await lint({
  ref: fileURLToPath(new URL("../src/edge/http/openapi.json", import.meta.url)),
  config: await createConfig({ extends: ["recommended"], telemetry: "off" })
})
const left = problems.filter(({ location, ruleId }) => asked[ruleId]?.test(location[0]?.pointer ?? "") !== true)
for (const { location, message, ruleId } of left) console.error(`${ruleId}: ${message} ${location[0]?.pointer ?? ""}`)
console.log(`${problems.length} findings in the document, ${left.length} of them to be mended`)
if (left.length > 0) process.exit(1)
