import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import * as TimeSlices from "../../../domain/time/TimeSlices.ts"

/** The most rows that are written in one step. */
const rowsAtOnce = 200

/** The answer with its `results` in portions of JSON. */
function* textsOf(rest: object, results: ReadonlyArray<unknown>): TimeSlices.Work<ReadonlyArray<string>> {
  const start = JSON.stringify(rest).slice(0, -1)
  const texts = [`${start}${start === "{" ? "" : ","}"results":[`]
  for (let at = 0; at < results.length; at += rowsAtOnce) {
    texts.push((at === 0 ? "" : ",") + JSON.stringify(results.slice(at, at + rowsAtOnce)).slice(1, -1))
    yield
  }
  return [...texts, "]}"]
}

const resultsOf = (answer: object): ReadonlyArray<unknown> =>
  "results" in answer && Array.isArray(answer.results) ? answer.results : []

/** The answer of a command as JSON. A long list is written in portions, because one of 200,000 rows has 30 MB. */
export const of = (answer: object): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const results = resultsOf(answer)
  if (results.length <= rowsAtOnce) return Effect.succeed(HttpServerResponse.jsonUnsafe(answer))
  const { results: _, ...rest } = answer as { readonly results: unknown }
  return Effect.map(
    TimeSlices.run(() => textsOf(rest, results)),
    (texts) =>
      HttpServerResponse.stream(Stream.encodeText(Stream.fromIterable(texts)), { contentType: "application/json" })
  )
}
