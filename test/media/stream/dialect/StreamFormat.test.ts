import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { rates, type StreamCodec } from "../../../../src/domain/schema/StreamField.ts"
import * as StreamFormat from "../../../../src/media/stream/dialect/StreamFormat.ts"
import type { FarEnd } from "../../../../src/media/FarEnd.ts"

const codecs = Object.keys(rates) as ReadonlyArray<StreamCodec>
const far = { rate: () => 8000, packetFormat: () => null } as unknown as FarEnd

describe("The codecs of streams, guide/streams.md#starting-a-stream", () => {
  it("are those of the list, each at each of its rates", () => {
    for (const codec of codecs)
      for (const rate of rates[codec])
        expect(StreamFormat.choose({ codec, rate: rates[codec].length > 1 ? rate : null }, far).told).toEqual({
          encoding: codec,
          sampleRate: rate
        })
  })

  it("are cut between the units of their payloads", () => {
    const units = codecs.map((codec) => StreamFormat.choose({ codec, rate: null }, far).decoder().unit)
    expect(units).toEqual([
      { octets: 1, samples: 1 },
      { octets: 1, samples: 1 },
      { octets: 1, samples: 2 },
      null,
      { octets: 2, samples: 1 }
    ])
  })

  it("are in the table of the guide with their rates", () => {
    const guide = readFileSync(new URL("../../../../src/guide/streams.md", import.meta.url), "utf8")
    const rows = guide.split("\n").filter((line) => /^\| `[A-Z0-9]+`/.test(line))
    for (const codec of codecs) {
      const [, , stated = ""] = rows.find((row) => row.split("|")[1]?.includes(`\`${codec}\``))?.split("|") ?? []
      expect([codec, ...(stated.match(/\b\d{4,5}\b/g) ?? [])]).toEqual([codec, ...rates[codec].map(String)])
    }
  })
})
