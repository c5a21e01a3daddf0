/**
 * Decides whether a mark reports that sound before it was dropped: some was since the mark before it. Marks at one
 * place report the same. Mutable.
 */
export const make = () => {
  let isLossy = false
  let isMarked = false
  return {
    dropped: (): void => {
      isLossy = true
      isMarked = false
    },
    kept: (): void => {
      if (isMarked) isLossy = false
    },
    /** Sets a mark here; returns whether it reports a loss. */
    marked: (): boolean => {
      isMarked = true
      return isLossy
    },
    cleared: (): void => {
      isLossy = false
    }
  }
}
