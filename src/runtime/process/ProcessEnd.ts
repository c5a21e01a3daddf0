/**
 * Ends this process with the exit code, whatever it still has open, once its output is written or its reader has gone,
 * and after `withinMs` in any case.
 */
export const after = (code: number, withinMs: number): void => {
  const leave = () => process.exit(code)
  if (Number.isFinite(withinMs)) setTimeout(leave, withinMs)
  const open = new Set([process.stdout, process.stderr])
  for (const stream of open) {
    stream.on("error", () => undefined)
    stream.write("", () => {
      open.delete(stream)
      if (open.size === 0) leave()
    })
  }
}
