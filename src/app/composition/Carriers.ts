import { Layer } from "effect"
import type { Config } from "../boot/config/Config.ts"
import * as SimulatorCarrier from "../../carrier/simulator/SimulatorCarrier.ts"
import * as SipCarrier from "../../carrier/sip/SipCarrier.ts"
import { Transcriber } from "../../telephony/transcription/Transcriber.ts"
import * as RecordingStore from "./RecordingStore.ts"

/**
 * The carriers, the recorder and the transcriber. Carriers register with `Carrier` and send their events to
 * `CarrierSink`.
 */
export const layer = (config: Config, dataDir: string, version: string) =>
  Layer.mergeAll(
    Transcriber.layer,
    RecordingStore.recorder(dataDir),
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
  )
