import { Layer } from "effect"
import type { Config } from "../boot/Config.ts"
import { Carrier } from "../carrier/Carrier.ts"
import * as NodeEgress from "../egress/node/NodeEgress.ts"
import type * as TargetPolicy from "../egress/TargetPolicy.ts"
import * as NodeOperatorEgress from "../egress/node/NodeOperatorEgress.ts"
import * as OfflineLookup from "../lookup/offline/OfflineLookup.ts"
import * as PdfThread from "../invoice/pdf/PdfThread.ts"
import * as LogMail from "../mail/log/LogMail.ts"
import * as SmtpMail from "../mail/smtp/SmtpMail.ts"
import * as Recognition from "./Recognition.ts"
import * as Recordings from "./Recordings.ts"
import * as Speech from "./Speech.ts"

/** The ports by which features reach the world, each with what this configuration puts there. */
export const layer = (config: Config, dataDir: string, policy: TargetPolicy.TargetPolicy) =>
  Layer.mergeAll(
    Carrier.layer,
    OfflineLookup.layer,
    PdfThread.layer,
    config.mailServer === null
      ? LogMail.layer
      : SmtpMail.layer(config.mailServer).pipe(Layer.provide(NodeOperatorEgress.layer())),
    Speech.layer(config),
    Recognition.layer(config.recognition),
    Recordings.storage(config, dataDir),
    NodeEgress.layer({
      policy,
      allowPrivate: config.allowPrivateTargets,
      ...(config.targetCaFile === null ? {} : { caFile: config.targetCaFile })
    })
  )
