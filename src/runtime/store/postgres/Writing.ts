/** The text of a statement that writes, locks rows or takes a number of a sequence. Values are parameters and not in it. */
const writing = /\b(insert|update|delete|merge|truncate|create|alter|drop|grant|nextval|setval|lock|(?:key )?share)\b/i

/**
 * Whether a statement may write. What this misses is refused by the server, because a session of the pool is read only
 * outside of transactions; what it takes for a write by mistake only costs a transaction.
 */
export const may = (text: string): boolean => writing.test(text)
