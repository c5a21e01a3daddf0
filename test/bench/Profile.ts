import { Effect } from "effect"
import { type Profiler, Session } from "node:inspector/promises"

/**
 * The parts that CPU time is assigned to: each sample belongs to the innermost frame that one of these names. Frames of
 * the effect runtime count for their caller, up to the run loop of the fiber; below that they are the runtime's own.
 */
const parts: ReadonlyArray<readonly [part: string, frames: RegExp]> = [
  ["authentication", /\/src\/(tenancy\/apikey|edge\/http\/(request\/Authenticat|connection\/ClientAddress|Endpoint))/],
  ["idempotency", /\/src\/(runtime\/idempotency\/|edge\/http\/request\/IdempotencyMiddleware)/],
  ["HTTP: our edge", /\/src\/edge\/http\//],
  ["admission and lookups", /\/src\/(money\/(account|billing)|numbers\/|telephony\/call\/shell\/PlaceCall)/],
  ["actor: shell", /\/src\/runtime\/(actor|process|fair)\//],
  ["call: machine and rows", /\/src\/(telephony|domain|carrier|runtime\/audit)\/|RecordingCarrier/],
  ["journal: encode and batch", /\/src\/runtime\/store\//],
  ["journal: Postgres client", /\/@effect\/sql-pg\/|\/effect\/(src|dist)\/sql\//],
  ["HTTP: effect routing", /\/@effect\/platform-node|\/effect\/(src|dist)\/http(-api)?\//],
  ["HTTP: schema", /\/effect\/(src|dist)\/(Schema|internal\/schema|schema\/)/],
  ["HTTP and sockets: node", /^node:(_http|http|net|stream|internal\/(stream|http|net))/]
]

const runLoop = /^(evaluate|runLoop)$/
const runtime = "effect runtime (fibers, queues)"

const partOf = (frame: Profiler.ProfileNode["callFrame"]): string | null => {
  if (frame.functionName === "(garbage collector)") return "garbage collection"
  if (frame.functionName === "(idle)" || frame.url === "node:inspector") return "idle"
  if (frame.functionName === "(program)") return "native code and system calls"
  return parts.find(([, frames]) => frames.test(frame.url))?.[0] ?? null
}

/** Profiles `work` and returns each part's share of the time in which this process was not idle. */
export const shares = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<ReadonlyMap<string, number>, E, R> =>
  Effect.gen(function* () {
    const session = new Session()
    session.connect()
    yield* Effect.promise(async () => {
      await session.post("Profiler.enable")
      await session.post("Profiler.setSamplingInterval", { interval: 200 })
      await session.post("Profiler.start")
    })
    yield* work
    const { profile } = yield* Effect.promise(() => session.post("Profiler.stop"))
    session.disconnect()
    return sharesOf(profile)
  })

const sharesOf = (profile: Profiler.Profile): ReadonlyMap<string, number> => {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])))
  const memo = new Map<number, string>()
  const ownerOf = (id: number | undefined): string => {
    const node = id === undefined ? undefined : nodes.get(id)
    if (node === undefined || id === undefined) return "native code and system calls"
    const known = memo.get(id)
    if (known !== undefined) return known
    const fiber = runLoop.test(node.callFrame.functionName) && node.callFrame.url.includes("/effect/")
    const owner = fiber ? runtime : (partOf(node.callFrame) ?? ownerOf(parents.get(id)))
    memo.set(id, owner)
    return owner
  }
  const micros = new Map<string, number>()
  let busy = 0
  profile.samples?.forEach((id, index) => {
    const owner = ownerOf(id)
    if (owner === "idle") return
    const delta = profile.timeDeltas?.[index] ?? 0
    busy += delta
    micros.set(owner, (micros.get(owner) ?? 0) + delta)
  })
  return new Map([...micros].sort(([, a], [, b]) => b - a).map(([part, time]) => [part, time / busy]))
}
