import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Listening } from "../../../../src/edge/http/Server.ts"
import * as TestServer from "../TestServer.ts"

const world = new TestServer.World()
const action = (verb: string) => `/v1/calls/${TestServer.callOfA}/actions/${verb}`
const ask = (verb: string, body: unknown) =>
  Effect.flatMap(Listening, ({ port }) => Effect.promise(() => TestServer.send(port, "POST", action(verb), { body })))
const paramOf = (answer: TestServer.Answer) =>
  (answer.json as { readonly error: { readonly param?: string } }).error.param

const said = { payload: "Hello", voice: "fake.anna" }
const audio = { audio_url: "https://media.example.com/a.wav" }
const digits = {
  minimumDigits: 1,
  maximumDigits: 128,
  terminatingDigit: "#",
  validDigits: "0123456789#*",
  timeoutMs: 60_000,
  interDigitTimeoutMs: 5_000,
  initialTimeoutMs: 5_000
}

layer(TestServer.layer(world))("speaking over HTTP, guide/calls.md#speak", (it) => {
  describe("bodies", () => {
    it.effect("reach the door with every default, and with every field", () =>
      Effect.gen(function* () {
        const manner = { language: null, payloadType: "text" }
        for (const [verb, body, decoded] of [
          ["speak", said, { ...said, ...manner }],
          [
            "speak",
            { payload: "😀".repeat(2000), voice: "male", language: "de-DE", payload_type: "text" },
            { payload: "😀".repeat(2000), voice: "male", language: "de-DE", payloadType: "text" }
          ],
          ["gather_using_speak", said, { ...said, ...manner, ...digits, maximumTries: 3 }],
          [
            "gather_using_speak",
            {
              ...said,
              invalid_payload: "Wrong.",
              minimum_digits: 4,
              maximum_digits: 6,
              terminating_digit: "",
              valid_digits: "123",
              timeout_millis: 1000,
              inter_digit_timeout_millis: 100,
              initial_timeout_millis: 100,
              maximum_tries: 10
            },
            {
              ...said,
              ...manner,
              invalidPayload: "Wrong.",
              minimumDigits: 4,
              maximumDigits: 6,
              terminatingDigit: "",
              validDigits: "123",
              timeoutMs: 1000,
              interDigitTimeoutMs: 100,
              initialTimeoutMs: 100,
              maximumTries: 10
            }
          ],
          ["gather_using_audio", audio, { audioUrl: audio.audio_url, ...digits, maximumTries: 3 }],
          [
            "gather_using_audio",
            { ...audio, invalid_audio_url: "https://media.example.com/b.wav", maximum_tries: 1 },
            {
              audioUrl: audio.audio_url,
              invalidAudioUrl: "https://media.example.com/b.wav",
              ...digits,
              maximumTries: 1
            }
          ]
        ] as const) {
          const answer = yield* ask(verb, body)
          expect([verb, answer.status, answer.status === 200 ? world.reached.at(-1)?.args[2] : answer.text]).toEqual([
            verb,
            200,
            { verb, body: decoded }
          ])
        }
      })
    )

    it.effect("outside their rows are a 400", () =>
      Effect.gen(function* () {
        for (const [verb, body] of [
          ["speak", {}],
          ["speak", { payload: "Hello" }],
          ["speak", { voice: "male" }],
          ["speak", { ...said, payload: "" }],
          ["speak", { ...said, payload: "😀".repeat(2001) }],
          ["speak", { ...said, payload: 7 }],
          ["speak", { ...said, language: "english please" }],
          ["speak", { ...said, payload_type: "markdown" }],
          ["speak", { ...said, loop: 2 }],
          ["gather_using_speak", { payload: "Hello" }],
          ["gather_using_speak", { ...said, maximum_tries: 0 }],
          ["gather_using_speak", { ...said, maximum_tries: 11 }],
          ["gather_using_speak", { ...said, invalid_payload: "x".repeat(2001) }],
          ["gather_using_speak", { ...said, audio_url: "https://media.example.com/a.wav" }],
          ["gather_using_audio", {}],
          ["gather_using_audio", { ...audio, voice: "male" }],
          ["gather_using_audio", { ...audio, timeout_millis: 999 }]
        ] as const) {
          const answer = yield* ask(verb, body)
          expect([verb, body, answer.status, TestServer.codeOf(answer)]).toEqual([verb, body, 400, "invalid_request"])
        }
      })
    )

    it.effect("whose voice cannot speak so are a 422 that names the field", () =>
      Effect.gen(function* () {
        for (const verb of ["speak", "gather_using_speak"])
          for (const [fields, param] of [
            [{ voice: "fake.nobody" }, "voice"],
            [{ voice: "anna" }, "voice"],
            [{ voice: "male", language: "zh" }, "language"],
            [{ payload_type: "ssml" }, "payload_type"]
          ] as const) {
            const answer = yield* ask(verb, { ...said, ...fields })
            expect([verb, answer.status, TestServer.codeOf(answer), paramOf(answer)]).toEqual([
              verb,
              422,
              "unprocessable",
              param
            ])
          }
        const crossed = yield* ask("gather_using_audio", { ...audio, minimum_digits: 5, maximum_digits: 4 })
        expect([crossed.status, TestServer.codeOf(crossed)]).toEqual([422, "unprocessable"])
      })
    )
  })

  it.effect("lists the voices that there are, all or those that speak a language", () =>
    Effect.gen(function* () {
      const { port } = yield* Listening
      const voices = (query = "") => Effect.promise(() => TestServer.send(port, "GET", `/v1/voices${query}`))
      const voice = (name: string, language: string, gender: string) => ({
        voice: `fake.${name}`,
        engine: "fake",
        language,
        gender,
        takes_ssml: false
      })
      const [anna, otto, olga] = [
        voice("anna", "en-US", "female"),
        voice("otto", "de-DE", "male"),
        voice("olga", "de-DE", "female")
      ]
      const whole = { next: null, previous: null }
      expect((yield* voices()).json).toEqual({ ...whole, count: 3, results: [anna, otto, olga] })
      expect((yield* voices("?language=de-AT")).json).toEqual({ ...whole, count: 2, results: [otto, olga] })
      expect((yield* voices("?language=zh")).json).toEqual({ ...whole, count: 0, results: [] })
      expect((yield* voices("?language=-")).status).toBe(400)
      const second = (yield* voices("?page=2&page_size=2")).json as { readonly previous: string }
      expect(second).toMatchObject({ count: 3, next: null, results: [olga] })
      expect(second.previous).toMatch(/\/v1\/voices\?page_size=2&page=1$/)
    })
  )
})
