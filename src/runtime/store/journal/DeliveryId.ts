/**
 * SQL for the id of a delivery, from SQL for its event's id and time and for its endpoint: a UUID of version 7 (RFC
 * 9562 section 5.7) whose time is the event's. The rest is a digest of event and endpoint, so that a delivery has the
 * same id whichever process writes it.
 */
export const sql = (of: { readonly event: string; readonly occurredAt: string; readonly endpoint: string }): string => `
  (SELECT (lpad(to_hex((extract(epoch FROM ${of.occurredAt}) * 1000)::bigint), 12, '0') || '7' || substr(digest, 1, 3)
      || substr('89ab', 1 + get_byte(decode(substr(digest, 4, 2), 'hex'), 0) % 4, 1) || substr(digest, 6, 15))::uuid
    FROM (VALUES (encode(sha256(convert_to(${of.event}::text || ${of.endpoint}, 'UTF8')), 'hex'))) AS d(digest))`
