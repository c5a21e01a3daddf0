import type { RecordingId } from "../../domain/Id.ts"

/** Where the file of a recording is in the store, by its status; it is the same whoever asks. */
export const keyOf = (
  { format, id }: { readonly id: RecordingId; readonly format: string },
  status: "available" | "archived"
): string => {
  const hex = id.slice(-32)
  return `${status === "available" ? "recordings" : "archive"}/${hex.slice(0, 2)}/${id}.${format}`
}
