import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CallFile, Calls, CallVerbs } from "../../../telephony/call/Call.ts"
import { Transcriptions } from "../../../telephony/transcription/Transcription.ts"
import { Api } from "../Api.ts"
import * as CallBodies from "./CallBodies.ts"
import { answer, list, pageOf, read, write } from "../Handler.ts"
import * as CsvAnswer from "../answer/CsvAnswer.ts"
import * as JsonResponse from "../answer/JsonResponse.ts"
import * as VerbHandlers from "../VerbHandlers.ts"
import * as Reachable from "../connection/Reachable.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "calls",
  Effect.fnUntraced(function* (handlers) {
    const calls = yield* Calls
    const reachable = yield* Reachable.make
    const actions = (yield* VerbHandlers.make)(CallVerbs, calls)
    const transcriptions = yield* Transcriptions

    return handlers.handleAll({
      place: write(
        Effect.fnUntraced(function* (caller, { payload }, slot) {
          const options = CallBodies.optionsOf(payload)
          yield* reachable({ audio_url: options.audioUrl }, "https:")
          return yield* calls.place(caller, { ...payload, plan: CallBodies.planOf(payload), options }, slot)
        })
      ),
      list: list((tenantId, window, filters) => calls.list(tenantId, filters, window)),
      file: answer((tenantId, { query }) =>
        Effect.map(calls.whole(tenantId, query), (rows) => CsvAnswer.make("calls.csv", CallFile.columns, rows))
      ),
      retrieve: read((tenantId, { params }) => calls.find(tenantId, params.id)),
      ...actions,
      streamings: pageOf((tenantId, { params }) => calls.streams(tenantId, params.id)),
      transcription: answer((tenantId, { params }) =>
        Effect.map(transcriptions.find(tenantId, params.id), JsonResponse.streamed)
      ),
      amd: read((tenantId, { params }) => calls.machineDetection(tenantId, params.id))
    })
  })
)
