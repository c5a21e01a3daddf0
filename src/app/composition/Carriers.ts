import { Layer } from "effect"
import type { Config } from "../boot/config/Config.ts"
import * as SimulatorCarrier from "../../carrier/simulator/SimulatorCarrier.ts"
import * as SipCarrier from "../../carrier/sip/SipCarrier.ts"
import { AudioSource } from "../../media/sound/AudioSource.ts"
import * as AudioDecoderThreads from "../../media/udp/decode/AudioDecoderThreads.ts"
import * as MediaPlaneUdp from "../../media/udp/MediaPlaneUdp.ts"
import { Transcriber } from "../../telephony/transcription/Transcriber.ts"
import * as Recordings from "./Recordings.ts"

/** A peer that sends no RTP for this time counts as gone. */
const mediaTimeoutMs = 60_000

/**
 * The carriers, the media of their legs, the recorder and the transcriber. Carriers register with `Carrier` and send
 * their events to `CarrierSink`.
 */
export const layer = (config: Config, dataDir: string, version: string) =>
  Layer.mergeAll(
    Transcriber.layer,
    Recordings.recorder(dataDir),
    SimulatorCarrier.layer,
    SipCarrier.layer({
      host: config.sipHost,
      port: config.sipPort,
      publicAddresses: config.publicAddresses,
      userAgent: `trunkline/${version}`,
      isSilent: config.sipStrangers === "silent",
      codecs: config.sipCodecs,
      codecChoice: config.sipCodecChoice
    })
  ).pipe(Layer.provide(media(config)))

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
