/**
 * The descriptors that a thread has open, in memory shared with its parent: a thread that is terminated closes nothing,
 * and the process continues. One octet for each number, 1 while it is open.
 */
export type Descriptors = Uint8Array<SharedArrayBuffer>

/** Higher numbers are not used. */
const most = 65_536

export const make = (): Descriptors => new Uint8Array(new SharedArrayBuffer(most))

/** Notes an open descriptor; false: its number is too high. */
export const opened = (descriptors: Descriptors, descriptor: number): boolean => {
  if (descriptor >= most) return false
  Atomics.store(descriptors, descriptor, 1)
  return true
}

/** Called before it is closed, because its number may be reused from then on. */
export const closing = (descriptors: Descriptors, descriptor: number): void =>
  void Atomics.store(descriptors, descriptor, 0)

/** Returns the descriptors that are still open. */
export const left = (descriptors: Descriptors): ReadonlyArray<number> =>
  Array.from(descriptors.entries()).flatMap(([descriptor, isOpen]) => (isOpen === 1 ? [descriptor] : []))
