import { NodeRuntime } from "@effect/platform-node"
import { Cause, Context, Data, Deferred, Effect, Exit, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { resolve4, resolve6 } from "node:dns/promises"
import { join } from "node:path"
import { Fatal } from "./actor/Fatal.ts"
import { Stopping } from "./actor/Stopping.ts"
import * as Supervised from "./actor/Supervised.ts"
import * as Banner from "./boot/Banner.ts"
import * as Config from "./boot/Config.ts"
import * as Environment from "./boot/Environment.ts"
import * as RecognitionConfig from "./boot/RecognitionConfig.ts"
import * as Crash from "./boot/Crash.ts"
import * as Database from "./boot/Database.ts"
import * as Failure from "./boot/Failure.ts"
import * as Features from "./boot/Features.ts"
import * as Foundations from "./boot/Foundations.ts"
import * as Log from "./boot/Log.ts"
import * as NodeEntropy from "./boot/NodeEntropy.ts"
import * as Restore from "./boot/Restore.ts"
import * as StopRequests from "./boot/StopRequests.ts"
import * as VaultKey from "./boot/VaultKey.ts"
import { Calls } from "./call/Call.ts"
import { Carrier } from "./carrier/Carrier.ts"
import * as SimulatorCarrier from "./carrier/simulator/SimulatorCarrier.ts"
import * as SipCarrier from "./carrier/sip/SipCarrier.ts"
import * as TargetPolicy from "./egress/TargetPolicy.ts"
import * as NodeEgress from "./egress/node/NodeEgress.ts"
import * as NodeOperatorEgress from "./egress/node/NodeOperatorEgress.ts"
import * as ApiKeyHandlers from "./http/apikey/ApiKeyHandlers.ts"
import { ClientAddress } from "./http/ClientAddress.ts"
import { BaseUrl } from "./http/Pagination.ts"
import { RateLimit } from "./http/RateLimit.ts"
import * as HttpServer from "./http/Server.ts"
import { Jobs } from "./job/Jobs.ts"
import * as LogMail from "./mail/log/LogMail.ts"
import { AudioSource } from "./media/AudioSource.ts"
import * as AudioDecoderThreads from "./media/udp/AudioDecoderThreads.ts"
import * as MediaPlaneUdp from "./media/udp/MediaPlaneUdp.ts"
import * as WsClient from "./egress/node/WsClient.ts"
import { OperatorEgress } from "./egress/OperatorEgress.ts"
import * as Arguments from "./operator/Arguments.ts"
import * as BackupCommands from "./operator/backup/BackupCommands.ts"
import { OperatorServer } from "./operator/OperatorServer.ts"
import * as WaitingProbes from "./operator/WaitingProbes.ts"
import { Recorder } from "./recording/Recorder.ts"
import * as DiskSpool from "./storage/disk/DiskSpool.ts"
import * as DiskStorage from "./storage/disk/DiskStorage.ts"
import { Encoders } from "./storage/disk/Encoders.ts"
import * as S3Storage from "./storage/s3/S3Storage.ts"
import * as OpenAiSpeech from "./speech/openai/OpenAiSpeech.ts"
import * as EspeakCommand from "./speech/process/EspeakCommand.ts"
import * as EspeakWasm from "./speech/process/EspeakWasm.ts"
import * as FliteCommand from "./speech/process/FliteCommand.ts"
import { Synthesizer } from "./speech/Synthesizer.ts"
import * as OpenAiRecognition from "./speech/openai/OpenAiRecognition.ts"
import * as PocketsphinxProcess from "./speech/process/PocketsphinxProcess.ts"
import type { Engine } from "./speech/Recognition.ts"
import { Recognizer } from "./speech/Recognizer.ts"
import * as Deepgram from "./speech/socket/Deepgram.ts"
import * as SocketEngine from "./speech/socket/SocketEngine.ts"
import * as Vosk from "./speech/socket/Vosk.ts"
import * as EmbeddedPostgres from "./store/embedded/EmbeddedPostgres.ts"
import * as OwnerFile from "./store/embedded/OwnerFile.ts"
import * as JournalWriter from "./store/JournalWriter.ts"
import { Vault } from "./store/Vault.ts"
import * as VaultCheck from "./store/VaultCheck.ts"
import { Transcriber } from "./transcription/Transcriber.ts"
import * as HashThreads from "./tenant/thread/HashThreads.ts"

/** Beside the kit for tests (`testing/`), the only file that names implementations: what is real here is an argument everywhere else. */

const version = "0.1.0"
/** The partitions of the journal that this process serves: all of them. */
const partitions: ReadonlyArray<number> = [0]
/** A peer that sends no RTP for so long has gone. */
const mediaTimeoutMs = 60_000

/** The process cannot go on: its database died, or another process took its journal over. */
class Stopped extends Data.TaggedError("Stopped")<{ readonly reason: string }> {
  override get message() {
    return this.reason
  }
}

/** IPv4 and IPv6 addresses of a name; none where it cannot be resolved. */
const dnsLookup = (name: string) =>
  Effect.map(
    Effect.all(
      [resolve4, resolve6].map((ask) =>
        Effect.orElseSucceed(
          Effect.tryPromise(() => ask(name)),
          (): ReadonlyArray<string> => []
        )
      ),
      { concurrency: "unbounded" }
    ),
    (answers) => answers.flat()
  )

/** Everything below the edges that listen: features over the journal, and what they reach the world with. */
const core = (
  config: Config.Config,
  dataDir: string,
  url: Redacted.Redacted,
  keys: VaultKey.Keys,
  holder: string,
  stop: (reason: string) => void,
  itIsOurTurn: () => void
) => {
  const policy = TargetPolicy.make()
  const world = Layer.mergeAll(
    speech(config),
    recognition(config.recognition),
    NodeEgress.layer({
      policy,
      allowPrivate: config.allowPrivateTargets,
      ...(config.targetCaFile === null ? {} : { caFile: config.targetCaFile })
    }),
    LogMail.layer,
    Carrier.layer,
    config.recordingStore === null
      ? DiskStorage.layer(join(dataDir, "files"))
      : S3Storage.layer(config.recordingStore).pipe(Layer.provide(NodeOperatorEgress.layer()))
  )
  // Another version's program, or one of another installation, is refused before it waits for its turn.
  const journal = Layer.unwrap(
    Effect.gen(function* () {
      yield* VaultCheck.verify
      const database = yield* Effect.context<SqlClient.SqlClient | Vault>()
      return JournalWriter.layer({
        partitions,
        onLost: (lost, left) => {
          if (left.length === 0) stop(lost.message)
        },
        standBy: {
          holder,
          prepare: Effect.suspend(() => {
            itIsOurTurn()
            return Effect.provide(Effect.andThen(Database.migrated, VaultCheck.confirm), database)
          })
        }
      })
    })
  )
  const store = journal.pipe(Layer.provideMerge(Layer.merge(Vault.layerOf(keys.ring, keys.keep), Database.layer(url))))
  return Features.layer(config).pipe(
    Layer.provideMerge(Foundations.layer({ ...config, policy, lookup: dnsLookup })),
    Layer.provide(HashThreads.layer),
    Layer.provideMerge(Layer.merge(store, world))
  )
}

/** The engines of this machine, behind a server where one is configured. */
const speech = (config: Config.Config) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const server = config.speechServer === null ? null : yield* OpenAiSpeech.make(config.speechServer)
      const espeak = (yield* EspeakCommand.find()) ?? (yield* EspeakWasm.make())
      const flite = yield* FliteCommand.find()
      return Synthesizer.layerOf([server, espeak, flite].filter((engine) => engine !== null))
    })
  ).pipe(Layer.provide(NodeOperatorEgress.layer()))

/** What recognizes speech: the engines that the operator chose, or the first that there is. */
const recognition = ({ chosen, deepgram, openai, vosk }: Config.Config["recognition"]) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const egress = yield* OperatorEgress
      const pocketsphinx = yield* PocketsphinxProcess.find
      const { open } = WsClient
      const clients = {
        deepgram: deepgram === null ? null : yield* egress.open(deepgram.target),
        vosk: vosk === null ? null : yield* egress.open(vosk),
        openai: openai === null ? null : yield* egress.open(openai.target)
      }
      const socket = { open, places: 100 }
      const make: Readonly<Record<RecognitionConfig.EngineName, (model: string | null) => Engine | null>> = {
        deepgram: (model) =>
          deepgram === null || clients.deepgram === null
            ? null
            : SocketEngine.make({
                ...socket,
                name: "deepgram",
                client: clients.deepgram,
                dialect: Deepgram.deepgram({ apiKey: deepgram.apiKey, model: model ?? "nova-3" })
              }),
        vosk: () =>
          clients.vosk === null
            ? null
            : SocketEngine.make({ ...socket, name: "vosk", client: clients.vosk, dialect: Vosk.vosk }),
        openai: (model) =>
          openai === null || clients.openai === null
            ? null
            : OpenAiRecognition.make({
                client: clients.openai,
                apiKey: openai.apiKey,
                model: model ?? "whisper-1",
                places: 64
              }),
        pocketsphinx: () => pocketsphinx
      }
      const first = RecognitionConfig.engines.map((name) => make[name](null)).find((engine) => engine !== null) ?? null
      const of = (choice: RecognitionConfig.Choice | null) =>
        choice === null ? first : make[choice.engine](choice.model)
      return Recognizer.layerOf({ fast: of(chosen.fast), accurate: of(chosen.accurate) })
    })
  ).pipe(Layer.provide(NodeOperatorEgress.layer()))

/** Media, what records them, and carriers: they register with `Carrier` and speak to `CarrierSink`. */
const carriers = (config: Config.Config, dataDir: string) =>
  Layer.mergeAll(
    Transcriber.layer,
    Recorder.layer.pipe(Layer.provide(DiskSpool.layer(join(dataDir, "spool"))), Layer.provide(Encoders.layer)),
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
  ).pipe(
    Layer.provide(
      MediaPlaneUdp.layer({
        bindAddress: config.sipHost,
        publicAddresses: config.publicAddresses,
        portMin: config.rtpPortMin,
        portMax: config.rtpPortMax,
        mediaTimeoutMs,
        ringback: config.ringbackCountry
      })
    ),
    Layer.provide(AudioSource.layer),
    Layer.provide(AudioDecoderThreads.layer)
  )

const api = (config: Config.Config) =>
  HttpServer.layer({ host: config.httpHost, port: config.httpPort, graceMs: 10_000 }).pipe(
    Layer.provide([
      ApiKeyHandlers.authenticator,
      ClientAddress.layer(config.trustProxy),
      RateLimit.layer({ signupPerHour: config.signupLimitPerHour }),
      Layer.succeed(BaseUrl, config.baseUrl)
    ])
  )

const requests = StopRequests.listen()

const configured = Effect.try({
  try: () => Config.parse(process.env),
  catch: (error) => (error instanceof Environment.ConfigInvalid ? error : new Stopped({ reason: String(error) }))
})

const serve = Effect.gen(function* () {
  const config = yield* configured
  const fatal = yield* Deferred.make<never, Stopped>()
  const stopping = yield* Deferred.make<void>()
  const stop = (reason: string) => {
    Deferred.doneUnsafe(stopping, Exit.void)
    Deferred.doneUnsafe(fatal, Exit.fail(new Stopped({ reason })))
  }

  const running = Effect.gen(function* () {
    const owned = yield* OwnerFile.acquire(config.dataDir)
    requests.outlives(owned.release)
    const keys = yield* VaultKey.load(config, owned.path)
    let standsInTheWay: ReadonlyArray<string> = ["starting"]
    const start = Effect.gen(function* () {
      const url = config.databaseUrl ?? (yield* embedded(owned, stop))
      standsInTheWay = ["waiting for its turn: another process may own the database"]
      const itIsOurTurn = () => {
        standsInTheWay = ["starting"]
      }
      const built = yield* Layer.build(
        carriers(config, owned.path).pipe(
          Layer.provideMerge(core(config, owned.path, url, keys, owned.identity, stop, itIsOurTurn))
        )
      )
      const recovered = yield* Context.get(built, Calls).recover
      const { awaiting } = Context.get(built, Calls)
      const recorder = Context.get(built, Recorder)
      yield* recorder.recover(yield* awaiting("recording"))
      yield* recorder.watch(Effect.map(awaiting("recording"), (all) => all.filter(({ hasLeft }) => hasLeft)))
      yield* Context.get(built, Transcriber).recover(yield* awaiting("transcription"))
      if (recovered > 0)
        yield* Effect.logInfo("calls of the process before this one were recovered", { calls: recovered })
      return built
    })
    const probes = WaitingProbes.during({ port: config.operatorPort, reasons: () => standsInTheWay })
    const context = yield* probes(start)
    const calls = Context.get(context, Calls)

    const edges = Layer.mergeAll(
      Features.deliveries({ version, disableAfterDays: config.webhookDisableDays }),
      OperatorServer.layer({
        port: config.operatorPort,
        tokenFile: join(owned.path, "operator.token"),
        ready: () => standsInTheWay
      }),
      Jobs.runner,
      api(config)
    )
    const edge = yield* Layer.build(edges).pipe(Effect.provide(context))
    standsInTheWay = []
    // This runs first when the service stops: nothing is closed while a call lives.
    yield* Effect.addFinalizer(() => {
      standsInTheWay = ["draining"]
      const refuseCalls = Context.get(context, SipCarrier.SipCarrier).drain
      return Effect.andThen(
        refuseCalls,
        Deferred.isDoneUnsafe(fatal) ? Effect.void : drain(calls, config.drainSecs * 1000)
      ).pipe(Effect.ensuring(Deferred.succeed(stopping, undefined)))
    })
    yield* Effect.sync(() => console.log(Banner.text(config, version, Context.get(edge, HttpServer.Listening).port)))
    return yield* Deferred.await(fatal)
  })
  const surroundings = Layer.mergeAll(
    NodeEntropy.layer,
    Crash.layer(process.env["CRASH_POINT"]),
    Log.layer(config),
    Layer.succeed(Fatal, stop),
    Layer.succeed(Stopping, Deferred.await(stopping))
  )
  return yield* Effect.provide(Effect.scoped(running), surroundings)
})

const embedded = Effect.fnUntraced(function* (owned: OwnerFile.OwnedDirectory, stop: (reason: string) => void) {
  const database = yield* EmbeddedPostgres.start(owned, { onLaunched: requests.outlives })
  yield* Supervised.fork(
    "the watch over the embedded Postgres",
    Effect.map(database.died, (why) => stop(`the embedded Postgres ended: ${why}`))
  )
  return database.url
})

/**
 * Live calls go on for `drainMs`, or until a second request to stop; then they get their BYE. The drain runs in a fiber
 * that has been interrupted already, so only the fibers that it forks can be interrupted.
 */
const drain = (calls: Calls["Service"], drainMs: number) =>
  Effect.raceFirst(
    Effect.interruptible(calls.drain(drainMs)),
    Effect.interruptible(Effect.andThen(requests.hurried, calls.drain(0)))
  )

/** `npm run restore -- <file> --passphrase-file <file|->`, with the service stopped. */
const restore = Effect.gen(function* () {
  const config = yield* configured
  const { file, passphrase } = yield* Effect.tryPromise({
    try: async () => {
      const args = Arguments.read(process.argv.slice(3), ["file"], { "passphrase-file": "value" })
      return {
        file: args.positional("file"),
        passphrase: await BackupCommands.passphrase(args.required("passphrase-file"))
      }
    },
    catch: (error) => new Stopped({ reason: error instanceof Error ? error.message : String(error) })
  })
  const running = Effect.gen(function* () {
    const owned = yield* OwnerFile.acquire(config.dataDir)
    requests.outlives(owned.release)
    const url = config.databaseUrl ?? (yield* embedded(owned, () => undefined))
    const said = Database.unhurried(Restore.restore(file, passphrase, config, owned.path))
    console.log(yield* Effect.provide(said, Database.layer(url)))
  })
  return yield* Effect.provide(Effect.scoped(running), Layer.merge(NodeEntropy.layer, Log.layer(config)))
})

const program: Effect.Effect<void, unknown> = process.argv[2] === "restore" ? restore : serve

NodeRuntime.runMain(program, {
  disableErrorReporting: true,
  teardown: (exit, onExit) => {
    if (exit._tag === "Success" || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
    console.error(`trunkline: ${Failure.oneLine(exit.cause)}`)
    onExit(1)
  }
})
