import { createHash } from "node:crypto"
import { join } from "node:path"
import { Clock, Context, Effect, Layer, Logger, Redacted, References } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as PdfThread from "../../money/invoice/pdf/PdfThread.ts"
import * as Database from "../boot/Database.ts"
import * as Features from "../composition/Features.ts"
import * as Foundations from "../composition/Foundations.ts"
import { Carrier } from "../../carrier/Carrier.ts"
import * as PhoneScript from "../../carrier/simulator/PhoneScript.ts"
import * as SimulatorCarrier from "../../carrier/simulator/SimulatorCarrier.ts"
import * as IpAddress from "../../domain/network/IpAddress.ts"
import { Egress } from "../../ports/egress/Egress.ts"
import * as TargetPolicy from "../../ports/egress/TargetPolicy.ts"
import type { Open } from "../../ports/egress/WebSocketClient.ts"
import * as ApiKeyHandlers from "../../edge/http/apikey/ApiKeyHandlers.ts"
import { ClientAddress } from "../../edge/http/connection/ClientAddress.ts"
import { BaseUrl } from "../../edge/http/answer/BaseUrl.ts"
import { RateLimit } from "../../edge/http/request/RateLimit.ts"
import * as HttpServer from "../../edge/http/Server.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import * as OfflineLookup from "../../ports/lookup/offline/OfflineLookup.ts"
import { Mail } from "../../ports/mail/Mail.ts"
import { AudioDecoder } from "../../media/sound/AudioDecoder.ts"
import { AudioSource } from "../../media/sound/AudioSource.ts"
import * as MediaPlaneInline from "../../media/plane/MediaPlaneInline.ts"
import { Recorder } from "../../telephony/recording/Recorder.ts"
import { Recognizer } from "../../ports/speech/Recognizer.ts"
import { Synthesizer } from "../../ports/speech/Synthesizer.ts"
import * as DiskSpool from "../../ports/storage/disk/DiskSpool.ts"
import * as DevelopmentPayments from "../../ports/payment/development/DevelopmentPayments.ts"
import * as DiskStorage from "../../ports/storage/disk/DiskStorage.ts"
import { Encoders } from "../../ports/storage/disk/Encoders.ts"
import { Spool } from "../../ports/storage/Spool.ts"
import { Storage } from "../../ports/storage/Storage.ts"
import { Journal } from "../../runtime/store/journal/Journal.ts"
import * as JournalWriter from "../../runtime/store/journal/JournalWriter.ts"
import { Vault } from "../../runtime/store/vault/Vault.ts"
import * as VaultCheck from "../../runtime/store/vault/VaultCheck.ts"
import * as HashThreads from "../../tenancy/tenant/thread/HashThreads.ts"
import { Transcriber } from "../../telephony/transcription/Transcriber.ts"
import type { Activity } from "./Activity.ts"
import * as ReadableSpeech from "./phone/ReadableSpeech.ts"

/** The key that seals all test databases, so that one can be a copy of another. */
const vaultKey = createHash("sha256").update("trunkline/testing").digest()

const version = "testing"

/** Work that depends on rows or other processes uses this machine's clock, whatever clock the calls use. */
const live = Layer.succeed(Clock.Clock, Context.get(Context.empty(), Clock.Clock))

interface Options {
  readonly databaseUrl: string
  readonly baseUrl: string
  readonly directory: string
  readonly activity: Activity
  readonly egress: Egress["Service"]
  readonly voices: ReadonlyArray<string>
  /** Called when the journal is lost, after which nothing works. */
  readonly onLost: (error: Error) => void
}

const spool = (directory: string, { during }: Activity) =>
  Layer.effect(
    Spool,
    Effect.map(Spool, (disk) =>
      Spool.of({
        ...disk,
        open: (recording, shape) =>
          during(
            "the file of a recording",
            Effect.map(disk.open(recording, shape), (writer) => ({
              append: (bytes) => during("the file of a recording", writer.append(bytes)),
              close: during("the file of a recording", writer.close)
            }))
          ),
        finish: (recording) => during("the encoding of a recording", disk.finish(recording)),
        remove: (id) => during("the file of a recording", disk.remove(id))
      })
    )
  ).pipe(Layer.provide(DiskSpool.layer(directory)), Layer.provide(Encoders.layer))

const storage = (directory: string, { during }: Activity) =>
  Layer.effect(
    Storage,
    Effect.map(Storage, (disk) =>
      Storage.of({
        put: (key, file) => during("the store of recordings", disk.put(key, file)),
        open: (key, range) => during("the store of recordings", disk.open(key, range)),
        move: (from, to) => during("the store of recordings", disk.move(from, to)),
        remove: (key) => during("the store of recordings", disk.remove(key))
      })
    )
  ).pipe(Layer.provide(DiskStorage.layer(directory)))

const decoder = ({ during }: Activity) =>
  Layer.effect(
    AudioDecoder,
    Effect.map(AudioDecoder, (inline) =>
      AudioDecoder.of({
        open: (file, rate) => {
          const reading = inline.open(file, rate)
          return { ...reading, next: (holder) => during("the decoding of a sound", reading.next(holder)) }
        }
      })
    )
  ).pipe(Layer.provide(AudioDecoder.layerInline))

/** Counts commits as activity, because the clock must not move while one waits for the statement before it. */
const counted = ({ during }: Activity) =>
  Layer.effect(
    Journal,
    Effect.map(Journal, (journal) =>
      Journal.of({
        ...journal,
        commit: (commit) => during("a commit", journal.commit(commit)),
        commitWhile: (commit, wanted, isAsked) => during("a commit", journal.commitWhile(commit, wanted, isAsked)),
        commitAsked: (commit) => during("a commit", journal.commitAsked(commit))
      })
    )
  )

/** The features over their database, and the simulated outside world of a test. */
export const features = (options: Options) => {
  const { activity, baseUrl, databaseUrl, directory, egress, onLost, voices } = options
  const migrated = Layer.effectDiscard(Effect.andThen(Database.migrated, VaultCheck.confirm))
  const store = counted(activity).pipe(
    Layer.provide(JournalWriter.layer({ partitions: [0], onLost })),
    Layer.provide(migrated),
    Layer.provideMerge(
      Layer.merge(
        Vault.layer(Redacted.make(vaultKey)),
        Database.layer(
          { url: Redacted.make(databaseUrl) },
          {
            name: "the database of the tests",
            onWork: activity.statement
          }
        )
      )
    ),
    Layer.provide(live)
  )
  const world = Layer.mergeAll(
    Synthesizer.layerOf(ReadableSpeech.engines(voices)),
    Recognizer.layerOf({ fast: ReadableSpeech.recognizer, accurate: ReadableSpeech.recognizer }),
    Layer.succeed(Egress, egress),
    Layer.succeed(Mail, { isReal: false, send: () => Effect.void }),
    OfflineLookup.layer,
    Carrier.layer,
    PdfThread.layer,
    storage(join(directory, "files"), activity)
  )
  const foundations = Foundations.layer({
    baseUrl,
    retentionDays: { event: 30, call: 365 },
    signupCreditCents: 500,
    policy: TargetPolicy.make(),
    lookup: () => Effect.succeed([])
  })
  return Features.layer({
    baseUrl,
    maxCallSecs: 14_400,
    signup: "open",
    recordingDays: { archive: 30, expire: 90 },
    payment: { topUp: { minimumCents: 1_000, maximumCents: 500_000 } }
  }).pipe(
    Layer.provide(DevelopmentPayments.layer),
    Layer.provideMerge(foundations.pipe(Layer.provide(live))),
    Layer.provide(HashThreads.layer),
    Layer.provideMerge(Layer.merge(store, world))
  )
}

/** Phones, the media plane, the recorder and the transcriber. */
export const carriers = (
  options: Pick<Options, "activity" | "directory"> & {
    readonly phones: PhoneScript.Phones
    readonly phoneOf: Parameters<typeof MediaPlaneInline.layer>[0]["phoneOf"] & {}
    readonly random: () => number
    readonly openSocket: Open
  }
) =>
  Layer.mergeAll(
    Transcriber.layer,
    Recorder.layer.pipe(Layer.provide(spool(join(options.directory, "spool"), options.activity))),
    SimulatorCarrier.layerOf(options.phones)
  ).pipe(
    Layer.provide(
      MediaPlaneInline.layer({
        ports: MediaPlaneInline.noPorts,
        random: options.random,
        publicAddresses: IpAddress.only("127.0.0.1"),
        mediaTimeoutMs: 60_000,
        maxLegs: 10_000,
        phoneOf: options.phoneOf,
        openSocket: options.openSocket
      })
    ),
    Layer.provide(AudioSource.layer),
    Layer.provide(decoder(options.activity))
  )

/** Jobs and deliveries, which depend on rows. */
export const rows = Layer.merge(Features.deliveries({ version, disableAfterDays: null }), Jobs.runner).pipe(
  Layer.provide(live)
)

export const api = ({ baseUrl, port }: { readonly baseUrl: string; readonly port: number }) =>
  HttpServer.layer({ host: "127.0.0.1", port, graceMs: 1_000 }).pipe(
    Layer.provide([
      ApiKeyHandlers.authenticator,
      ClientAddress.layer("none"),
      RateLimit.layer({ signupPerHour: 1_000 }),
      Layer.succeed(BaseUrl, baseUrl)
    ])
  )

export type LogLevel = "Debug" | "Info" | "Warn" | "Error" | "None"

export const surroundings = (options: { readonly seed: string; readonly logLevel: LogLevel }) =>
  Layer.mergeAll(
    Entropy.layerFixed(options.seed),
    Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void process.stderr.write(`${line}\n`))]),
    Layer.succeed(References.MinimumLogLevel, options.logLevel)
  )
