import type { RecordingId } from "../../domain/Id.ts"

/** The key of a recording's file in the object store, by its status. */
export const keyOf = (
  { format, id }: { readonly id: RecordingId; readonly format: string },
  status: "available" | "archived"
): string => {
  const hex = id.slice(-32)
  return `${status === "available" ? "recordings" : "archive"}/${hex.slice(0, 2)}/${id}.${format}`
}
