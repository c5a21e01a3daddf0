import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Listening } from "../../../../src/edge/http/Server.ts"
import * as TestServer from "../TestServer.ts"

const world = new TestServer.World()

const ask = (method: string, path: string, asked?: TestServer.Asked) =>
  Effect.flatMap(Listening, ({ port }) => Effect.promise(() => TestServer.send(port, method, path, asked)))

const refusal = (method: string, path: string, body?: unknown) =>
  Effect.map(ask(method, path, { body }), (answer) => [answer.status, TestServer.codeOf(answer)])

const good = { from: "+12025550150", to: "+12025550100" }
const action = (verb: string) => `/v1/calls/${TestServer.callOfA}/actions/${verb}`

const reached = () => world.reached.at(-1)

layer(TestServer.layer(world))("calls, guide/calls.md#actions", (it) => {
  describe("POST /v1/calls", () => {
    it.effect("hands the request with its defaults to the door, and answers 201 with its bytes", () =>
      Effect.gen(function* () {
        const answer = yield* ask("POST", "/v1/calls", { body: good })
        expect([answer.status, answer.headers["content-type"]]).toEqual([201, "application/json"])
        expect(answer.json).toMatchObject({ status: "initiated" })
        expect(reached()?.args).toMatchObject([
          { tenantId: TestServer.tenantA },
          {
            from: good.from,
            to: good.to,
            routeId: null,
            customerReference: null,
            timeoutSecs: 60,
            timeLimitSecs: null,
            callerIdForwarding: false
          },
          null
        ])
      })
    )

    it.effect("hands over every field", () =>
      Effect.gen(function* () {
        yield* ask("POST", "/v1/calls", {
          body: {
            ...good,
            route_id: TestServer.routeOfA,
            record: "off",
            record_channels: "dual",
            record_format: "wav",
            customer_reference: "r",
            answering_machine_detection: "off",
            timeout_secs: 600,
            time_limit_secs: 86_400,
            caller_id_forwarding: true
          }
        })
        expect(reached()?.args[1]).toMatchObject({
          from: good.from,
          to: good.to,
          routeId: TestServer.routeOfA,
          customerReference: "r",
          timeoutSecs: 600,
          timeLimitSecs: 86_400,
          callerIdForwarding: true
        })
      })
    )

    it.effect("refuses values outside their types and ranges with 400", () =>
      Effect.gen(function* () {
        const bad: ReadonlyArray<Readonly<Record<string, unknown>>> = [
          { from: "12025550150" },
          { from: "+1 202 555" },
          { to: "+12345" },
          { to: "+1234567890123456" },
          { to: null },
          { route_id: "main" },
          { record: "always" },
          { record_channels: "stereo" },
          { record_format: "ogg" },
          { customer_reference: "x".repeat(129) },
          { customer_reference: 1 },
          { answering_machine_detection: "basic" },
          { audio_url: 7 },
          { timeout_secs: 0 },
          { timeout_secs: 601 },
          { timeout_secs: 1.5 },
          { timeout_secs: "60" },
          { time_limit_secs: 0 },
          { time_limit_secs: 86_401 },
          { caller_id_forwarding: "true" }
        ]
        for (const field of bad)
          expect([field, ...(yield* refusal("POST", "/v1/calls", { ...good, ...field }))]).toEqual([
            field,
            400,
            "invalid_request"
          ])
      })
    )
  })

  it.effect("takes machine detection, and has no result of a call that was placed without", () =>
    Effect.gen(function* () {
      yield* ask("POST", "/v1/calls", { body: { ...good, answering_machine_detection: "premium" } })
      expect(reached()?.args[1]).toMatchObject({
        plan: { machineDetection: "premium" },
        options: { detectsMachine: true }
      })
      expect(yield* refusal("GET", `/v1/calls/${TestServer.callOfA}/amd`)).toEqual([404, "not_found"])
      expect(yield* refusal("GET", "/v1/calls/x/amd")).toEqual([400, "invalid_request"])
    })
  )

  describe("GET /v1/calls", () => {
    it.effect("hands every filter to the door", () =>
      Effect.gen(function* () {
        const query =
          "status=ended&direction=inbound&from_number=%2B12025550150&to_number=%2B12025550100&customer_reference=order%207&initiated_after=2026-01-01T00:00:00Z"
        expect((yield* ask("GET", `/v1/calls?${query}`)).status).toBe(200)
        expect(reached()?.args[1]).toEqual({
          status: "ended",
          direction: "inbound",
          fromNumber: "+12025550150",
          toNumber: "+12025550100",
          customerReference: "order 7",
          initiatedAfterMs: Date.UTC(2026, 0, 1)
        })
      })
    )

    it.effect("refuses filter values that cannot be", () =>
      Effect.gen(function* () {
        for (const query of [
          "status=gone",
          "direction=up",
          "from_number=1",
          "to_number=%2B1",
          "initiated_after=yesterday",
          "initiated_after=2026-01-01",
          "initiated_after=2026-13-01T00:00:00Z",
          "initiated_after=2026-01-01T00:00:00%2B24:00"
        ])
          expect([query, ...(yield* refusal("GET", `/v1/calls?${query}`))]).toEqual([query, 400, "invalid_request"])
      })
    )
  })

  describe("actions", () => {
    it.effect("reach the door as commands, with their defaults", () =>
      Effect.gen(function* () {
        const url = "https://media.example.com/a.mp3"
        const gather = {
          minimumDigits: 1,
          maximumDigits: 128,
          terminatingDigit: "#",
          validDigits: "0123456789#*",
          timeoutMs: 60_000,
          interDigitTimeoutMs: 5_000,
          initialTimeoutMs: 5_000
        }
        const stream = {
          streamTrack: "inbound_track",
          streamCodec: null,
          streamBidirectionalMode: null,
          streamBidirectionalCodec: null,
          streamBidirectionalSamplingRate: null,
          streamJitterMs: null,
          streamReconnectSecs: 0,
          streamProtocol: "telnyx",
          streamAuthToken: null,
          customParameters: []
        }
        const wss = "wss://agent.example.com/socket?token=1"
        const recording = { recordChannels: "single", recordFormat: "mp3", streamUrl: null, ...stream }
        for (const [verb, body, decoded] of [
          ["answer", undefined, recording],
          ["answer", { record: "off" }, { record: "off", ...recording }],
          ["reject", { cause: "user_busy" }, { cause: "user_busy" }],
          ["hangup", undefined, {}],
          ["play", { url }, { url, loop: 1, targetLegs: "self" }],
          ["play", { url, loop: 100, target_legs: "both" }, { url, loop: 100, targetLegs: "both" }],
          ["stop_playback", undefined, { stop: "all" }],
          ["stop_playback", { stop: "current" }, { stop: "current" }],
          ["send_dtmf", { digits: "12#*AD" }, { digits: "12#*AD", durationMs: 250 }],
          ["send_dtmf", { digits: "1w2W3" }, { digits: "1w2W3", durationMs: 250 }],
          ["send_dtmf", { digits: "1", duration_millis: 100 }, { digits: "1", durationMs: 100 }],
          ["gather", undefined, gather],
          ["gather", {}, gather],
          [
            "gather",
            { maximum_digits: 4, terminating_digit: "", initial_timeout_millis: 100 },
            { ...gather, maximumDigits: 4, terminatingDigit: "", initialTimeoutMs: 100 }
          ],
          ["stop_gather", undefined, {}],
          [
            "answer",
            { stream_url: wss, stream_track: "both_tracks" },
            { ...recording, streamUrl: wss, streamTrack: "both_tracks" }
          ],
          ["streaming_start", { stream_url: wss }, { streamUrl: wss, ...stream }],
          [
            "streaming_start",
            {
              stream_url: wss,
              stream_codec: "L16",
              stream_bidirectional_mode: "rtp",
              stream_bidirectional_codec: "L16",
              stream_bidirectional_sampling_rate: 16_000,
              stream_auth_token: "s3cret",
              custom_parameters: [{ name: "agent", value: "7" }]
            },
            {
              ...stream,
              streamUrl: wss,
              streamCodec: "L16",
              streamBidirectionalMode: "rtp",
              streamBidirectionalCodec: "L16",
              streamBidirectionalSamplingRate: 16_000,
              streamAuthToken: "s3cret",
              customParameters: [{ name: "agent", value: "7" }]
            }
          ],
          ["streaming_stop", undefined, { streamId: null }],
          [
            "streaming_stop",
            { stream_id: `svc_stream_${"1".repeat(32)}` },
            { streamId: `svc_stream_${"1".repeat(32)}` }
          ]
        ] as const) {
          const answer = yield* ask("POST", action(verb), { body })
          expect([verb, body, answer.status, reached()?.args.slice(1, 3)]).toEqual([
            verb,
            body,
            200,
            [TestServer.callOfA, { verb, body: decoded }]
          ])
        }
      })
    )

    it.effect("refuse bodies outside their rows with 400", () =>
      Effect.gen(function* () {
        for (const [verb, body] of [
          ["answer", { stream_url: "https://agent.example.com" }],
          ["streaming_start", {}],
          ["streaming_start", { stream_url: "https://agent.example.com" }],
          ["streaming_start", { stream_url: "ws://agent.example.com" }],
          ["streaming_start", { stream_url: "wss://127.0.0.1/" }],
          ["streaming_start", { stream_url: "wss://a@agent.example.com/" }],
          ["streaming_start", { stream_url: "wss://agent.example.com", stream_track: "inbound" }],
          ["streaming_start", { stream_url: "wss://agent.example.com", stream_codec: "AMR-WB" }],
          ["streaming_start", { stream_url: "wss://agent.example.com", stream_bidirectional_sampling_rate: 22_050 }],
          ["streaming_start", { stream_url: "wss://agent.example.com", stream_auth_token: "a b" }],
          ["answer", { record: "on_ringing" }],
          ["reject", undefined],
          ["reject", { cause: "tired" }],
          ["play", {}],
          ["play", { url: "http://a.example.com/a.wav" }],
          ["play", { url: "https://localhost/a.wav" }],
          ["play", { url: "https://media.example.com/a.wav", loop: 0 }],
          ["play", { url: "https://media.example.com/a.wav", loop: 101 }],
          ["play", { url: "https://media.example.com/a.wav", target_legs: "all" }],
          ["stop_playback", { stop: "none" }],
          ["send_dtmf", { digits: "" }],
          ["send_dtmf", { digits: "1p2" }],
          ["send_dtmf", { digits: "1".repeat(65) }],
          ["send_dtmf", { digits: "1", duration_millis: 99 }],
          ["send_dtmf", { digits: "1", duration_millis: 501 }],
          ["gather", { minimum_digits: 0 }],
          ["gather", { maximum_digits: 129 }],
          ["gather", { terminating_digit: "##" }],
          ["gather", { valid_digits: "AB" }],
          ["gather", { timeout_millis: 999 }],
          ["gather", { inter_digit_timeout_millis: 60_001 }]
        ] as const)
          expect([verb, body, ...(yield* refusal("POST", action(verb), body))]).toEqual([
            verb,
            body,
            400,
            "invalid_request"
          ])
      })
    )

    it.effect("refuse fields that disagree with 422", () =>
      Effect.gen(function* () {
        const stream_url = "wss://agent.example.com"
        for (const [verb, body] of [
          ["gather", { minimum_digits: 5, maximum_digits: 4 }],
          ["streaming_start", { stream_url, stream_codec: "PCMU", stream_bidirectional_codec: "L16" }],
          ["streaming_start", { stream_url, stream_codec: "PCMU", stream_bidirectional_sampling_rate: 16_000 }],
          ["streaming_start", { stream_url, stream_codec: "L16", stream_bidirectional_sampling_rate: 48_000 }],
          ["streaming_start", { stream_url, stream_protocol: "twilio", stream_codec: "L16" }],
          ["streaming_start", { stream_url, stream_protocol: "twilio", stream_bidirectional_mode: "mp3" }]
        ] as const)
          expect([body, ...(yield* refusal("POST", action(verb), body))]).toEqual([body, 422, "unprocessable"])
      })
    )

    it.effect("are refused without a body that they need, and where there is no such verb", () =>
      Effect.gen(function* () {
        expect(yield* refusal("POST", "/v1/calls/x/actions/transfer")).toEqual([400, "invalid_request"])
        expect(yield* refusal("POST", action("dance"))).toEqual([404, "not_found"])
      })
    )

    it.effect("answer 422 where there is no engine to transcribe with, and say what to configure", () =>
      Effect.gen(function* () {
        const answer = yield* ask("POST", action("transcription_start"), { body: { engine: "accurate" } })
        expect([answer.status, answer.json]).toMatchObject([
          422,
          { error: { code: "unprocessable", param: "engine", message: expect.stringContaining("STT_ACCURATE") } }
        ])
        for (const body of [{ language: "english language" }, { engine: "best" }, { transcription_tracks: "all" }])
          expect([body, ...(yield* refusal("POST", action("transcription_start"), body))]).toEqual([
            body,
            400,
            "invalid_request"
          ])
        expect(yield* refusal("GET", `/v1/calls/${TestServer.callOfA}/transcription`)).toEqual([404, "not_found"])
      })
    )
  })
})
