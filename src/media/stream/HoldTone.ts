import * as RingbackSource from "../mix/RingbackSource.ts"
import type { Source } from "../mix/Source.ts"

/** The sound that a caller hears while the server of its stream is away: a soft tone every three seconds. */
export const make = (): Source =>
  RingbackSource.make({ cadenceMs: [200, 2_800], components: [{ frequency: 440, dbfs: -27 }] })
