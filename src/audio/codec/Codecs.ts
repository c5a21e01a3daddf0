import type { Codec } from "./Codec.ts"
import * as G711 from "./G711.ts"
import * as G722 from "./G722.ts"

/** The codecs that this program speaks. */
export const table = {
  PCMU: G711.codec("PCMU"),
  PCMA: G711.codec("PCMA"),
  G722: G722.codec
} satisfies Readonly<Record<string, Codec>>

export type CodecName = keyof typeof table

export const isName = (name: string): name is CodecName => Object.hasOwn(table, name)

/** In the order of the table. */
export const names = Object.keys(table).filter(isName)

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
export const defaultOrder: ReadonlyArray<CodecName> = ["PCMU", "PCMA"]
