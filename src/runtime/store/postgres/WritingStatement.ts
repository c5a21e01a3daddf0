/**
 * Matches a statement that writes, locks rows or takes a number of a sequence. Values are parameters and not in the
 * text.
 */
const writing = /\b(insert|update|delete|merge|truncate|create|alter|drop|grant|nextval|setval|lock|(?:key )?share)\b/i

/**
 * True when a statement may write. The server refuses a write that this misses, because a session of the pool is
 * read-only outside of transactions; a read that this matches by mistake only costs a transaction.
 */
export const may = (text: string): boolean => writing.test(text)
