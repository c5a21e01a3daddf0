import type { Direction } from "./Sdp.ts"

/** The directions of a media stream seen from one side, RFC 3264 sections 5.1 and 6.1. */
export const sends = (direction: Direction): boolean => direction === "sendrecv" || direction === "sendonly"

const receives = (direction: Direction): boolean => direction === "sendrecv" || direction === "recvonly"

export const make = (send: boolean, receive: boolean): Direction =>
  send ? (receive ? "sendrecv" : "sendonly") : receive ? "recvonly" : "inactive"

/** Our direction for the peer's: we send where it receives and receive where it sends, as far as we want to. */
export const facing = (peer: Direction, wanted: Direction): Direction =>
  make(receives(peer) && sends(wanted), sends(peer) && receives(wanted))
