import { Effect, Layer } from "effect"
import * as RecognitionConfig from "../boot/config/RecognitionConfig.ts"
import * as NodeOperatorEgress from "../../ports/egress/node/NodeOperatorEgress.ts"
import * as ReadTurns from "../../ports/egress/node/ReadTurns.ts"
import * as WsClient from "../../ports/egress/node/WsClient.ts"
import { OperatorEgress } from "../../ports/egress/OperatorEgress.ts"
import * as OpenAiRecognition from "../../ports/speech/openai/OpenAiRecognition.ts"
import * as PocketsphinxProcess from "../../ports/speech/process/PocketsphinxProcess.ts"
import type { Engine } from "../../ports/speech/Recognition.ts"
import { Recognizer } from "../../ports/speech/Recognizer.ts"
import * as Deepgram from "../../ports/speech/socket/Deepgram.ts"
import * as SocketEngine from "../../ports/speech/socket/SocketEngine.ts"
import * as Vosk from "../../ports/speech/socket/Vosk.ts"

/** Recognizes speech by the engines that the operator chose, or by the first available one. */
export const layer = ({ chosen, deepgram, openai, vosk }: RecognitionConfig.RecognitionConfig) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const egress = yield* OperatorEgress
      const pocketsphinx = yield* PocketsphinxProcess.find
      const open = WsClient.make(ReadTurns.make())
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
