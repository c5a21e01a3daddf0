import type { SampleRate } from "../SampleRate.ts"
import type { Codec } from "./Codec.ts"
import * as G711 from "./G711.ts"
import * as G722 from "./G722.ts"
import * as L16 from "./L16.ts"
import * as Opus from "./Opus.ts"

/** The leg rate for codecs that leave the choice: that of G.722, so that both meet without a filter. */
const wide: SampleRate = 16_000

/** The codecs that this program speaks in RTP. */
export const table = {
  PCMU: G711.codec("PCMU"),
  PCMA: G711.codec("PCMA"),
  G722: G722.codec,
  OPUS: Opus.codec(wide),
  L16: L16.codec(wide)
} satisfies Readonly<Record<string, Codec>>

export type CodecName = keyof typeof table

export const isName = (name: string): name is CodecName => Object.hasOwn(table, name)

/** The names in the order of the table. */
export const names = Object.keys(table).filter(isName)

/** Further rates of a codec, for use without a session description: over a WebSocket. */
const others: Readonly<Partial<Record<CodecName, ReadonlyArray<Codec>>>> = {
  OPUS: ([8000, 24_000, 48_000] as const).map(Opus.codec),
  L16: ([8000, 24_000] as const).map(L16.codec)
}

/** Returns the codec with samples of this rate; `null`: it has no such rate. */
export const at = (name: CodecName, rate: number): Codec | null =>
  [table[name], ...(others[name] ?? [])].find(({ sampleRate }) => sampleRate === rate) ?? null

/** The longest payload of a frame, in octets. */
export const longestFrameOctets = Math.max(...names.map((name) => table[name].frameOctets))

/** The codecs with static payload types, which a peer may send without negotiation. */
const byPayloadType: ReadonlyMap<number, CodecName> = new Map(
  names.flatMap((name) => {
    const { payloadType } = table[name]
    return payloadType === null ? [] : [[payloadType, name] as const]
  })
)

export const ofPayloadType = (payloadType: number): CodecName | null => byPayloadType.get(payloadType) ?? null

/** Finds a codec by its name in session descriptions. */
export const named = (format: Pick<Codec, "encoding" | "clockRate" | "channels">): CodecName | null =>
  names.find((name) => {
    const { channels, clockRate, encoding } = table[name]
    return encoding === format.encoding && clockRate === format.clockRate && channels === format.channels
  }) ?? null

/** The codecs that are offered unless the operator configures others, most preferred first. */
export const defaultOrder: ReadonlyArray<CodecName> = ["G722", "PCMU", "PCMA", "OPUS"]
