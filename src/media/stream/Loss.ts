/**
 * Whether a mark has to tell that sound before it was dropped: something was since the mark before it. Marks at one place
 * tell the same. Mutable.
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
    /** A mark stands here. */
    marked: (): boolean => {
      isMarked = true
      return isLossy
    },
    cleared: (): void => {
      isLossy = false
    }
  }
}
