import { Layer } from "effect"
import type { Config } from "../boot/config/Config.ts"
import { Carrier } from "../../carrier/Carrier.ts"
import * as NodeEgress from "../../ports/egress/node/NodeEgress.ts"
import type * as TargetPolicy from "../../ports/egress/TargetPolicy.ts"
import * as NodeOperatorEgress from "../../ports/egress/node/NodeOperatorEgress.ts"
import * as OfflineLookup from "../../ports/lookup/offline/OfflineLookup.ts"
import { AudioSource } from "../../media/sound/AudioSource.ts"
import * as AudioDecoderThreads from "../../media/udp/decode/AudioDecoderThreads.ts"
import * as MediaPlaneUdp from "../../media/udp/MediaPlaneUdp.ts"
import * as PdfThread from "../../money/invoice/pdf/PdfThread.ts"
import * as LogMail from "../../ports/mail/log/LogMail.ts"
import * as SmtpMail from "../../ports/mail/smtp/SmtpMail.ts"
import * as Recognizers from "./Recognizers.ts"
import * as RecordingStore from "./RecordingStore.ts"
import * as Speech from "./Speech.ts"

/** A peer that sends no RTP for this time counts as gone. */
const mediaTimeoutMs = 60_000

/** The ports by which features reach the world, each with the implementation that this configuration chooses. */
export const layer = (config: Config, dataDir: string, policy: TargetPolicy.TargetPolicy) =>
  media(config).pipe(Layer.provideMerge(ports(config, dataDir, policy)))

const ports = (config: Config, dataDir: string, policy: TargetPolicy.TargetPolicy) =>
  Layer.mergeAll(
    Carrier.layer,
    OfflineLookup.layer,
    PdfThread.layer,
    config.mailServer === null
      ? LogMail.layer
      : SmtpMail.layer(config.mailServer).pipe(Layer.provide(NodeOperatorEgress.layer())),
    Speech.layer(config),
    Recognizers.layer(config.recognition),
    RecordingStore.storage(config, dataDir),
    NodeEgress.layer({
      policy,
      allowPrivate: config.allowPrivateTargets,
      ...(config.targetCaFile === null ? {} : { caFile: config.targetCaFile })
    })
  )

const media = (config: Config) =>
  MediaPlaneUdp.layer({
    bindAddress: config.sipHost,
    publicAddresses: config.publicAddresses,
    portMin: config.rtpPortMin,
    portMax: config.rtpPortMax,
    packetIo: config.rtpIo,
    mediaTimeoutMs,
    ringback: config.ringbackCountry
  }).pipe(Layer.provideMerge(AudioSource.layer), Layer.provide(AudioDecoderThreads.layer))
