import { Layer } from "effect"
import { join } from "node:path"
import type { Config } from "../boot/config/Config.ts"
import * as NodeOperatorEgress from "../../ports/egress/node/NodeOperatorEgress.ts"
import { Recorder } from "../../telephony/recording/Recorder.ts"
import * as DiskSpool from "../../ports/storage/disk/DiskSpool.ts"
import * as DiskStorage from "../../ports/storage/disk/DiskStorage.ts"
import { Encoders } from "../../ports/storage/disk/Encoders.ts"
import * as S3Storage from "../../ports/storage/s3/S3Storage.ts"

/** Stores recordings in a bucket when one is configured, and otherwise in the data directory. */
export const storage = ({ recordingStore }: Pick<Config, "recordingStore">, dataDir: string) =>
  recordingStore === null
    ? DiskStorage.layer(join(dataDir, "files"))
    : S3Storage.layer(recordingStore).pipe(Layer.provide(NodeOperatorEgress.layer()))

export const recorder = (dataDir: string) =>
  Recorder.layer.pipe(Layer.provide(DiskSpool.layer(join(dataDir, "spool"))), Layer.provide(Encoders.layer))
