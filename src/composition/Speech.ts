import { Effect, Layer } from "effect"
import type { Config } from "../boot/Config.ts"
import * as NodeOperatorEgress from "../egress/node/NodeOperatorEgress.ts"
import * as OpenAiSpeech from "../speech/openai/OpenAiSpeech.ts"
import * as EspeakCommand from "../speech/process/EspeakCommand.ts"
import * as EspeakWasm from "../speech/process/EspeakWasm.ts"
import * as FliteCommand from "../speech/process/FliteCommand.ts"
import { Synthesizer } from "../speech/Synthesizer.ts"

/** The engines of this machine, behind a server where one is configured. */
export const layer = (config: Pick<Config, "speechServer">) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const server = config.speechServer === null ? null : yield* OpenAiSpeech.make(config.speechServer)
      const espeak = (yield* EspeakCommand.find()) ?? (yield* EspeakWasm.make())
      const flite = yield* FliteCommand.find()
      return Synthesizer.layerOf([server, espeak, flite].filter((engine) => engine !== null))
    })
  ).pipe(Layer.provide(NodeOperatorEgress.layer()))
