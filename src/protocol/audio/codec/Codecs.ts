import type { SampleRate } from "../SampleRate.ts"
import type { Codec } from "./Codec.ts"
import * as G711 from "./G711.ts"
import * as G722 from "./G722.ts"
import * as L16 from "./L16.ts"
import * as Opus from "./Opus.ts"

/** The rate of legs in codecs that leave the choice: as wide as G.722, so that both meet without a filter. */
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

/** In the order of the table. */
export const names = Object.keys(table).filter(isName)

/** The rates at which a codec can be had where no session description has to name it: over a WebSocket. */
const others: Readonly<Partial<Record<CodecName, ReadonlyArray<Codec>>>> = {
  OPUS: ([8000, 24_000, 48_000] as const).map(Opus.codec),
  L16: ([8000, 24_000] as const).map(L16.codec)
}

/** A codec whose samples have this rate; `null`: it has no such rate. */
export const at = (name: CodecName, rate: number): Codec | null =>
  [table[name], ...(others[name] ?? [])].find(({ sampleRate }) => sampleRate === rate) ?? null

/** The longest payload of a frame, in octets. */
export const longestFrameOctets = Math.max(...names.map((name) => table[name].frameOctets))

/** What a peer may send without asking: the codecs under their static payload types. */
const byPayloadType: ReadonlyMap<number, CodecName> = new Map(
  names.flatMap((name) => {
    const { payloadType } = table[name]
    return payloadType === null ? [] : [[payloadType, name] as const]
  })
)

export const ofPayloadType = (payloadType: number): CodecName | null => byPayloadType.get(payloadType) ?? null

/** The name of a codec by what session descriptions call it. */
export const named = (format: Pick<Codec, "encoding" | "clockRate" | "channels">): CodecName | null =>
  names.find((name) => {
    const { channels, clockRate, encoding } = table[name]
    return encoding === format.encoding && clockRate === format.clockRate && channels === format.channels
  }) ?? null

/** What is offered where the operator says nothing else, most wanted first. */
export const defaultOrder: ReadonlyArray<CodecName> = ["G722", "PCMU", "PCMA", "OPUS"]
