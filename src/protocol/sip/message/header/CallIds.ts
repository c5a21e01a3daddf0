/** A multiset of the Call-IDs in use. Mutable. */
export interface CallIds {
  readonly add: (callId: string) => void
  readonly remove: (callId: string) => void
  readonly has: (callId: string) => boolean
}

export const make = (): CallIds => {
  const counts = new Map<string, number>()
  return {
    add: (callId) => void counts.set(callId, (counts.get(callId) ?? 0) + 1),
    remove: (callId) => {
      const left = (counts.get(callId) ?? 0) - 1
      if (left > 0) counts.set(callId, left)
      else counts.delete(callId)
    },
    has: (callId) => counts.has(callId)
  }
}
