import { Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import * as Csv from "../../../domain/schema/Csv.ts"

/**
 * A CSV file of rows under a header with the names of the columns, in UTF-8. It holds only one portion of `rows` in
 * memory. When reading fails in the middle the connection is cut, so that a client does not take half a file for all.
 */
export const make = <Column extends string>(
  fileName: string,
  columns: ReadonlyArray<Column>,
  rows: Stream.Stream<ReadonlyArray<Readonly<Record<Column, Csv.Cell>>>, unknown>
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(Stream.encodeText(Csv.file(columns, rows)), {
    contentType: "text/csv; charset=utf-8",
    headers: {
      "content-disposition": `attachment; filename="${fileName}"`,
      "cache-control": "private, no-store",
      "x-content-type-options": "nosniff"
    }
  })
