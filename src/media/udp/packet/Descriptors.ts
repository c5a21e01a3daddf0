/**
 * The descriptors that a thread has open, which its parent sees too: a thread that is ended in the middle closes nothing,
 * and the process goes on. One octet for each number, 1 while it is open.
 */
export type Descriptors = Uint8Array<SharedArrayBuffer>

/** Higher ones are not used. */
const most = 65_536

export const make = (): Descriptors => new Uint8Array(new SharedArrayBuffer(most))

/** False: there is no place for one so high. */
export const opened = (descriptors: Descriptors, descriptor: number): boolean => {
  if (descriptor >= most) return false
  Atomics.store(descriptors, descriptor, 1)
  return true
}

/** Called before it is closed: from then on the number may be anybody's. */
export const closing = (descriptors: Descriptors, descriptor: number): void =>
  void Atomics.store(descriptors, descriptor, 0)

/** What is still open. */
export const left = (descriptors: Descriptors): ReadonlyArray<number> =>
  Array.from(descriptors.entries()).flatMap(([descriptor, isOpen]) => (isOpen === 1 ? [descriptor] : []))
