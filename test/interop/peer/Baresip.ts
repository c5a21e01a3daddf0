/** Debian's baresip as a SIP phone: it plays a file, records the sound that it receives, and is controlled over TCP. */
import { spawn } from "node:child_process"
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { Result } from "effect"
import * as Wav from "../../../src/protocol/audio/file/Wav.ts"
import type * as PcmReader from "../../../src/protocol/audio/file/PcmReader.ts"
import { end, eventually, freePort, type Json } from "./Service.ts"

export interface Options {
  readonly folder: string
  /** The directory of its configuration and recordings, in `folder`. */
  readonly home: string
  /** The user of its address; it accepts calls to no other. */
  readonly name: string
  /** Whether it answers calls by itself. */
  readonly answers: boolean
  /** The sound that it plays while a call is up: mono, at the rate of its codec. */
  readonly voice: Int16Array
  /** The only codec that it supports; without it PCMU and PCMA. */
  readonly codec?: Codec
}

/** The codecs under their names in its accounts, and the rate of its files for them. */
const codecs = {
  PCMU: ["PCMU/8000/1", 8000],
  PCMA: ["PCMA/8000/1", 8000],
  G722: ["G722/16000/1", 16_000],
  OPUS: ["opus/48000/1", 48_000],
  L16: ["L16/16000/1", 16_000]
} as const
export type Codec = keyof typeof codecs

export const rateOf = (codec: Codec): number => codecs[codec][1]

export interface Baresip {
  readonly port: number
  /** `dial`, `accept`, `hangup`, `hold`, `resume`, `sndcode`… */
  readonly command: (command: string, params?: string) => void
  readonly events: ReadonlyArray<Json>
  /** Waits for an event of this type; the nth since the start, from 1. */
  readonly event: (type: string, nth?: number, withinMs?: number) => Promise<Json>
  /** The sound that it has heard: a recording for each time that its sound was started, for example after a hold. */
  readonly heard: () => Promise<ReadonlyArray<PcmReader.Sound>>
  readonly stop: () => Promise<void>
}

const modules = "/usr/lib/baresip/modules"

export const start = async ({ answers, codec, folder, name, voice, ...options }: Options): Promise<Baresip> => {
  const home = join(folder, options.home)
  await mkdir(home, { recursive: true })
  const port = await freePort()
  const control = await freePort()
  const rtp = 21_000 + (port % 400) * 20
  await writeFile(
    join(home, "voice.wav"),
    Wav.write({ sampleRate: codec === undefined ? 8000 : rateOf(codec), samples: voice })
  )
  await writeFile(join(home, "contacts"), "")
  await writeFile(
    join(home, "accounts"),
    `<sip:${name}@127.0.0.1:${port};transport=udp>;regint=0;answermode=${answers ? "auto" : "manual"};audio_codecs=${codec === undefined ? "PCMU/8000/1,PCMA/8000/1" : codecs[codec][0]}\n`
  )
  await writeFile(
    join(home, "config"),
    [
      "poll_method epoll",
      `sip_listen 127.0.0.1:${port}`,
      "call_max_calls 8",
      "audio_path /usr/share/baresip",
      `audio_source aufile,${join(home, "voice.wav")}`,
      `audio_player aubridge,sink`,
      `audio_alert aubridge,alert`,
      `rtp_ports ${rtp}-${rtp + 18}`,
      "net_interface 127.0.0.1",
      "jitter_buffer_delay 2-10",
      `module_path ${modules}`,
      "opus_bitrate 24000",
      "opus_stereo no",
      "opus_sprop_stereo no",
      "module g711.so",
      "module g722.so",
      "module opus.so",
      "module l16.so",
      "module aufile.so",
      "module aubridge.so",
      "module sndfile.so",
      "module_tmp account.so",
      "module_app menu.so",
      "module_app ctrl_tcp.so",
      `ctrl_tcp_listen 127.0.0.1:${control}`,
      `snd_path ${home}`,
      ""
    ].join("\n")
  )
  const child = spawn("baresip", ["-f", home], { stdio: ["ignore", "pipe", "pipe"] })
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => {
      said = (said + text.toString()).slice(-8_000)
    })
  const socket = await eventually("baresip's control port", () => open(control)).catch(async (error: unknown) => {
    await end(child)
    throw new Error(`baresip did not start: ${said}`, { cause: error })
  })
  const events: Array<Json> = []
  listen(socket, (message) => {
    if (message["event"] === true) events.push(message)
  })
  return {
    port,
    events,
    command: (command, params) => {
      const text = JSON.stringify({ command, params: params ?? "", token: "t" })
      socket.write(`${Buffer.byteLength(text)}:${text},`)
    },
    event: (type, nth = 1, withinMs) =>
      eventually(`${type} at baresip`, () => events.filter((event) => event["type"] === type)[nth - 1], withinMs).catch(
        (error: unknown) => {
          throw new Error(`${String(error)}; it saw ${events.map((event) => event["type"]).join(" ")}`, {
            cause: error
          })
        }
      ),
    heard: async () => {
      const recordings = (await readdir(home)).filter((file) => file.endsWith("-dec.wav"))
      const sounds: Array<PcmReader.Sound> = []
      for (const file of recordings) {
        // A recording that was begun but never written to is empty.
        const sound = Wav.read(await readFile(join(home, file)))
        if (Result.isSuccess(sound)) sounds.push(sound.success)
      }
      return sounds
    },
    stop: async () => {
      socket.destroy()
      await end(child, "SIGTERM", 3_000)
    }
  }
}

const open = (port: number): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resolve(socket))
    socket.once("error", () => resolve(undefined))
  })

/** Reads netstrings of JSON. */
const listen = (socket: Socket, take: (message: Json) => void): void => {
  let buffered = Buffer.alloc(0)
  socket.on("error", () => undefined)
  socket.on("data", (chunk) => {
    buffered = Buffer.concat([buffered, chunk])
    for (;;) {
      const colon = buffered.indexOf(":")
      const length = Number(buffered.subarray(0, Math.max(colon, 0)).toString())
      if (colon === -1 || buffered.length < colon + 1 + length + 1) return
      take(JSON.parse(buffered.subarray(colon + 1, colon + 1 + length).toString("utf8")) as Json)
      buffered = buffered.subarray(colon + 1 + length + 1)
    }
  })
}
