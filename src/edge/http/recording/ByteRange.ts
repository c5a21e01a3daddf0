import type { Range } from "../../../ports/storage/Storage.ts"

/** The meaning of a Range header: the whole, a part, or a part beyond the end. */
type Asked = { readonly type: "whole" } | ({ readonly type: "part" } & Range) | { readonly type: "beyond" }

const whole: Asked = { type: "whole" }
const single = /^bytes=([0-9]*)-([0-9]*)$/

/**
 * Parses the Range header of a request for something of `size` bytes, RFC 9110 section 14.2. One range is served;
 * several ranges, and text that is no range, count as none, as section 14.2 allows.
 */
export const of = (header: string | undefined, size: number): Asked => {
  const [, first = "", last = ""] = single.exec(header ?? "") ?? []
  if (first === "" && last === "") return whole
  if (first === "") {
    const length = Math.min(Number(last), size)
    return length === 0 ? { type: "beyond" } : { type: "part", from: size - length, to: size - 1 }
  }
  const from = Number(first)
  if (last !== "" && Number(last) < from) return whole
  return from >= size
    ? { type: "beyond" }
    : { type: "part", from, to: Math.min(last === "" ? size - 1 : Number(last), size - 1) }
}
