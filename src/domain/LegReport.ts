import { Schema } from "effect"
import * as Field from "./schema/Field.ts"
import * as Wire from "./schema/Wire.ts"

/** The report on a leg after its end, on legs and in `call.ended`: its sound quality, and its SIP status. */

const direction = Wire.struct({
  packets: Field.count("RTP packets.", 3050),
  lost: Field.count("Of these, packets that never came.", 2),
  jitterMs: Schema.Finite.annotate({
    description: "Interarrival jitter, RFC 3550, in milliseconds: the last value.",
    examples: [1.5]
  }),
  jitterMeanMs: Schema.optionalKey(
    Schema.Finite.annotate({
      description:
        "Its mean: over all packets that were received, or over the far end's reports. Absent in legs of long ago.",
      examples: [1.8]
    })
  ),
  jitterMaxMs: Schema.optionalKey(
    Schema.Finite.annotate({ description: "Its maximum. Absent in legs of long ago.", examples: [6.2] })
  ),
  mos: Schema.NullOr(Schema.Finite).annotate({
    description: "Mean opinion score by the E-model, ITU-T G.107, 1 to 4.5; null: no packet came.",
    examples: [4.4]
  }),
  bpl: Schema.optionalKey(
    Schema.Finite.annotate({
      description:
        "The packet-loss robustness factor (ITU-T G.113 appendix I) that the score counts losses with: that of the concealment here, and for what was sent an assumption about the far end. 25.1 for G.711 with concealment, 4.3 without. Absent in legs of long ago.",
      examples: [25.1]
    })
  )
})

const example = { packets: 3050, lost: 2, jitter_ms: 1.5, jitter_mean_ms: 1.8, jitter_max_ms: 6.2, mos: 4.4, bpl: 25.1 }

const Quality = Wire.struct({
  codec: Field.text("The codec that was agreed last.", "PCMU"),
  inbound: direction.pipe(Schema.annotateEncoded({ description: "What was received.", examples: [example] })),
  outbound: Schema.NullOr(direction).pipe(
    Schema.annotateEncoded({
      description: "What was sent, as the far end reported it; null: it did not.",
      examples: [null]
    })
  ),
  roundTripMs: Schema.NullOr(Schema.Finite).annotate({
    description: "Null: the far end reported nothing.",
    examples: [38]
  })
})

const SipReason = Wire.struct({
  protocol: Field.text("`SIP` or `Q.850`.", "Q.850"),
  cause: Schema.NullOr(Schema.Int).annotate({ description: "In the words of the protocol.", examples: [16] }),
  text: Field.textOrNull("As the far end put it.", "Normal call clearing")
})

export const fields = {
  sipStatus: Schema.NullOr(Schema.Int).annotate({
    description: "The SIP status that ended it; null: none did.",
    examples: [null]
  }),
  sipReason: Schema.NullOr(SipReason).pipe(
    Schema.annotateEncoded({
      description: "Why the far end ended it, by its Reason header (RFC 3326); null: it did not say.",
      examples: [{ protocol: "Q.850", cause: 16, text: "Normal call clearing" }]
    })
  ),
  quality: Schema.NullOr(Quality).pipe(
    Schema.annotateEncoded({
      description: "How it sounded, each direction for itself; null: nothing was measured, or it is not known yet.",
      examples: [{ codec: "PCMU", inbound: example, outbound: null, round_trip_ms: 38 }]
    })
  )
}
