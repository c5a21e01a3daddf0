import { Effect, Layer } from "effect"
import type { Config } from "../boot/config/Config.ts"
import * as NodeOperatorEgress from "../../ports/egress/node/NodeOperatorEgress.ts"
import * as OpenAiSpeech from "../../ports/speech/openai/OpenAiSpeech.ts"
import * as EspeakCommand from "../../ports/speech/process/EspeakCommand.ts"
import * as EspeakWasm from "../../ports/speech/process/EspeakWasm.ts"
import * as FliteCommand from "../../ports/speech/process/FliteCommand.ts"
import { Synthesizer } from "../../ports/speech/Synthesizer.ts"

/** Speaks by the configured server first, and otherwise by the engines of this machine. */
export const layer = (config: Pick<Config, "speechServer">) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const server = config.speechServer === null ? null : yield* OpenAiSpeech.make(config.speechServer)
      const espeak = (yield* EspeakCommand.find()) ?? (yield* EspeakWasm.make())
      const flite = yield* FliteCommand.find()
      return Synthesizer.layerOf([server, espeak, flite].filter((engine) => engine !== null))
    })
  ).pipe(Layer.provide(NodeOperatorEgress.layer()))
