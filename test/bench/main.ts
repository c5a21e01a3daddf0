import { NodeRuntime } from "@effect/platform-node"
import { Cause, Effect } from "effect"
import { cpus } from "node:os"
import * as AccountBench from "./account/AccountBench.ts"
import * as MarginBench from "./account/MarginBench.ts"
import * as RetentionBench from "./account/RetentionBench.ts"
import * as UsageBench from "./account/UsageBench.ts"
import * as DetectBench from "./detect/DetectBench.ts"
import * as JournalBench from "./JournalBench.ts"
import * as LiveCallBench from "./LiveCallBench.ts"
import * as ForwardBench from "./media/ForwardBench.ts"
import * as MediaBench from "./media/MediaBench.ts"
import * as RoomBench from "./media/room/RoomBench.ts"
import * as StreamBench from "./media/StreamBench.ts"
import * as NeighbourBench from "./neighbour/NeighbourBench.ts"
import * as PlaceCallBench from "./PlaceCallBench.ts"
import * as RecorderBench from "./RecorderBench.ts"
import * as Report from "./Report.ts"
import * as SpeechBench from "./SpeechBench.ts"
import * as StrangersBench from "./strangers/StrangersBench.ts"
import * as WebhookBench from "./WebhookBench.ts"

/**
 * `npm run bench [-- --only <name> [--rows <variant>,<variant>]]`: ratios of one run, medians of interleaved rounds;
 * ends with a table.
 */
const benches = {
  place: ["Durable POST /v1/calls against a bare server that writes the same rows", PlaceCallBench.run],
  journal: ["Journal: the batch writer against a transaction for each commit", JournalBench.run],
  live: ["Live calls without media", LiveCallBench.run],
  forward: ["Packets passed on as they come, 50 bridges over UDP loopback", ForwardBench.run],
  media: ["Media plane over UDP loopback, 25 bridges whose sound is decoded and encoded", MediaBench.run],
  room: ["Rooms of PCMU members over UDP loopback, every frame decoded", RoomBench.run],
  record: ["A recorder beside the media thread", RecorderBench.run],
  speech: ["Speech: from `speak` to its first frame, and what it costs", SpeechBench.run],
  streams: ["Media streams over TLS on loopback, both ways", StreamBench.run],
  amd: ["Machine detection on a synthetic corpus (espeak-ng and flite have to be installed)", DetectBench.run],
  strangers: ["5,000 datagrams/s of strangers while 50 calls talk and 10 a second are placed", StrangersBench.run],
  neighbour: ["What a tenant sees while another abuses what they share", NeighbourBench.run],
  account: ["Proof and seals over 1,000,000 calls of 100 tenants", AccountBench.run],
  usage: ["Usage over 1,000,000 calls of 100 tenants", UsageBench.run],
  margin: ["What a row of usage costs, and the margin over 1,000,000 calls (`BENCH_CALLS`)", MarginBench.run],
  retention: ["Pruning a million rows while calls are placed", RetentionBench.run],
  webhook: ["Carrier event to the receiver's request, HTTPS", WebhookBench.run]
} as const

type Name = keyof typeof benches
const names = Object.keys(benches) as ReadonlyArray<Name>

const chosen = (args: ReadonlyArray<string>): ReadonlyArray<Name> => {
  const at = args.indexOf("--only")
  if (at === -1) return names
  const name = names.find((candidate) => candidate === args[at + 1])
  if (name !== undefined) return [name]
  console.error(`bench: --only takes one of ${names.join(", ")}`)
  return process.exit(2)
}

const program = Effect.gen(function* () {
  const sections: Array<readonly [string, ReadonlyArray<Report.Figure>]> = []
  for (const name of chosen(process.argv.slice(2))) {
    const [title, run] = benches[name]
    console.error(`${name}: ${title} …`)
    sections.push([title, yield* Effect.scoped(run)])
  }
  console.log(`\nNode ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "?"}\n`)
  console.log(Report.render(sections))
})

NodeRuntime.runMain(program, {
  disableErrorReporting: true,
  teardown: (exit, onExit) => {
    if (exit._tag === "Failure") console.error(Cause.pretty(exit.cause))
    onExit(exit._tag === "Success" ? 0 : 1)
  }
})
