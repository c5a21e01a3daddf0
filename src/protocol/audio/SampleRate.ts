/** The rates of the sound on a leg, in samples a second: those of the codecs in use. */
export type SampleRate = 8000 | 16_000 | 24_000 | 48_000
