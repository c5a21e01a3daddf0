/**
 * Enforces the names and the floors of the house (src/README.md#floors): a file imports its own room and lower floors,
 * never upward, never in a circle; a feature sees of another feature only its door, and only doors that stand earlier
 * in `features`. Pure floors reach no socket, file, process or random source: of Node they may use the hash functions
 * only.
 */
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize, relative } from "node:path"

const root = new URL("..", import.meta.url).pathname

/** Order matters: a feature may open the doors of those before it. */
const features = [
  "retention",
  "audit",
  "ban",
  "target",
  "letter",
  "usage",
  "tenant",
  "billing",
  "account",
  "apikey",
  "team",
  "connection",
  "funding",
  "plan",
  "invoice",
  "proof",
  "number",
  "porting",
  "recording",
  "transcription",
  "closing",
  "call",
  "conference"
]
/** Opens no other feature's door and is opened by none but the edges. */
const loner = "webhook"

/** The longest matching prefix decides. */
const rooms: ReadonlyArray<readonly [prefix: string, floor: number]> = [
  ["main.ts", 5],
  ["composition/", 5],
  ["testing/", 5],
  ["http/", 4],
  ["operator/", 4],
  ["carrier/simulator/", 4],
  ["carrier/sip/", 4],
  ["carrier/telnyx/", 4],
  ["store/embedded/", 4],
  ["store/postgres/", 4],
  ["media/udp/", 4],
  ["storage/disk/", 4],
  ["storage/s3/", 4],
  ["egress/node/", 4],
  ["mail/log/", 4],
  ["mail/smtp/", 4],
  ["payment/stripe/", 4],
  ["payment/development/", 4],
  ["lookup/offline/", 4],
  ["invoice/pdf/", 4],
  ["tenant/thread/", 4],
  ["speech/process/", 4],
  ["speech/openai/", 4],
  ["speech/socket/", 4],
  ["boot/", 4],
  ...features.map((name) => [`${name}/`, 3] as const),
  [`${loner}/`, 3],
  ["store/", 2],
  ["media/", 2],
  ["idempotency/", 2],
  ["job/", 2],
  ["actor/", 1],
  ["carrier/", 1],
  ["speech/", 1],
  ["storage/", 1],
  ["mail/", 1],
  ["payment/", 1],
  ["lookup/", 1],
  ["egress/", 1],
  ["sip/", 1],
  ["rtp/", 1],
  ["audio/", 1],
  ["domain/", 0],
  // What crosses the carrier port unopened: shapes only.
  ["media/message/", 0]
]

/**
 * On one floor: a receipt is a row of the journal's commit and expires by a job, a job is claimed under the journal's
 * epoch, what crosses the carrier port names its work by the domain's ids, the database is opened by `boot`, threads that
 * encode stand behind the others in priority as those that decode do, and the media thread, a program of its own, opens
 * the sockets of streams.
 */
const pairs: ReadonlyArray<readonly [from: string, to: string]> = [
  ["media/message", "domain"],
  ["idempotency", "store"],
  ["idempotency", "job"],
  ["job", "store"],
  ["speech", "audio"],
  ["speech", "actor"],
  ["boot", "store/postgres"],
  ["media/udp", "egress/node"]
]

/** Rooms of protocol and sample code: they import nothing of ours outside themselves but plain data structures. */
const pure = ["sip", "rtp", "audio"]
const structures = ["domain/time/DeadlineHeap.ts", "domain/fair/FairShare.ts", "domain/network/IpAddress.ts"]

/**
 * What every floor may have of Node: computations over what is given (hashes, ciphers, a comparison). `randomBytes` and
 * its kin are the outside world.
 */
const computations: Readonly<Record<string, ReadonlySet<string>>> = {
  "node:crypto": new Set([
    "createHash",
    "createHmac",
    "hash",
    "timingSafeEqual",
    "createCipheriv",
    "createDecipheriv",
    "createSecretKey",
    "hkdfSync",
    "scrypt"
  ]),
  "node:util": new Set(["isDeepStrictEqual"])
}

const vendors: Readonly<Record<number, ReadonlyArray<RegExp>>> = {
  0: [/^effect(\/|$)/, /^ipaddr\.js$/],
  1: [/^effect(\/|$)/, /^sdp-transform$/, /^ipaddr\.js$/, /^@echogarden\/speex-resampler-wasm/, /^mpg123-decoder$/],
  2: [/^effect(\/|$)/, /^mpg123-decoder$/],
  3: [/^effect(\/|$)/, /^libphonenumber-js/]
}

const roomOf = (path: string) => {
  let found: readonly [string, number] | undefined
  for (const room of rooms) if (path.startsWith(room[0]) && room[0].length > (found?.[0].length ?? -1)) found = room
  return found === undefined ? undefined : { room: found[0].replace(/\/$/, ""), floor: found[1] }
}

/** Makes a way to private addresses, so it is made of configuration only; elsewhere it is a type. */
const ofTheOperator = "ports/egress/OperatorTarget.ts"
const mayMakeIt = /^boot\//

const specifiers = (source: string) =>
  [
    ...source.matchAll(
      /(?:^|\n)\s*(?:import|export)\s+(type\s+)?([^"'`;]*?)\s*from\s*["']([^"']+)["']|(?:^|\n)\s*import\s*["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)/g
    )
  ].map((match) => ({
    isType: match[1] !== undefined,
    clause: match[2] ?? "",
    specifier: match[3] ?? match[4] ?? match[5] ?? ""
  }))

const problems: Array<string> = []
const graph = new Map<string, Array<string>>()

const allowedBetween = (
  from: { room: string; floor: number },
  to: { room: string; floor: number },
  target: string
): boolean => {
  if (from.room === to.room) return true
  if (pure.includes(from.room)) return structures.includes(target)
  if (to.floor < from.floor) return true
  if (from.floor === 3 && to.floor === 3) {
    if (from.room === loner || to.room === loner) return false
    const isDoor =
      new RegExp(`^${to.room}/[A-Z][A-Za-z]*\\.ts$`).test(target) && target.toLowerCase() === `${to.room}/${to.room}.ts`
    return isDoor && features.indexOf(to.room) < features.indexOf(from.room)
  }
  return pairs.some(([one, other]) => from.room === one && to.room === other)
}

for (const file of globSync("src/**/*.ts", { cwd: root })) {
  const path = relative("src", file)
  const here = roomOf(path)
  if (here === undefined) {
    problems.push(`${file}: stands in no room that scripts/floors.ts knows`)
    continue
  }
  const edges: Array<string> = []
  graph.set(path, edges)
  for (const { clause, isType, specifier } of specifiers(readFileSync(join(root, file), "utf8"))) {
    if (specifier.startsWith(".")) {
      const target = normalize(join(dirname(path), specifier))
      edges.push(target)
      if (target === ofTheOperator && !isType && !mayMakeIt.test(path))
        problems.push(`${file}: may import only the type of ${target}`)
      const there = roomOf(target)
      if (there === undefined) continue
      if (here.floor < 5 && !allowedBetween(here, there, target))
        problems.push(`${file}: ${here.room} (floor ${here.floor}) may not import ${target} (floor ${there.floor})`)
      continue
    }
    if (here.floor >= 4) continue
    const computing = computations[specifier]
    if (computing !== undefined) {
      const names = clause
        .replace(/[{}]/g, "")
        .split(",")
        .map((name) => name.trim().replace(/^type\s+/, ""))
        .filter(Boolean)
      for (const name of names)
        if (!computing.has(name))
          problems.push(`${file}: of ${specifier} only computations are allowed here, not ${name}`)
      continue
    }
    const allowed = vendors[here.floor] ?? []
    if (!allowed.some((pattern) => pattern.test(specifier)))
      problems.push(`${file}: floor ${here.floor} may not import ${specifier}`)
  }
}

/**
 * Fibers of the service, src/README.md#supervision: `runtime/process/Supervised.ts` begins them, so that a death is seen. The
 * others below end with something of their own: a load, a request to a peer, a name that is resolved, a line of the log,
 * a probe.
 */
const mayFork = new Set([
  "runtime/process/Supervised.ts",
  "runtime/actor/Actor.ts",
  "runtime/fair/FairPlaces.ts",
  "runtime/actor/Registry.ts",
  "telephony/call/shell/CallLog.ts",
  "numbers/connection/KnownPeers.ts",
  "ports/egress/node/StreamExchange.ts",
  "runtime/idempotency/Idempotency.ts",
  "runtime/idempotency/ReceiptLookup.ts",
  "media/plane/MediaPlaneInline.ts",
  "edge/operator/door/Probes.ts"
])
for (const path of graph.keys())
  if (!mayFork.has(path) && /Effect\.fork(Scoped|Detach|In)\b/.test(readFileSync(join(root, "src", path), "utf8")))
    problems.push(`src/${path}: a fiber of the service is begun by runtime/process/Supervised.ts`)

/** Names, src/README.md#names: a file is a module in PascalCase, and no name says only that it helps. */
const namedOtherwise = /^(main|operator\/cli)\.ts$|^store\/migration\/\d{4}_[a-z_]+\.ts$|\.d\.ts$/
const saysNothing = /(Manager|Helper|Util|Utils|Impl|Service)$/
const declared = /^export (?:abstract )?(?:class|const|interface|type|function) (\w+)/gm

for (const path of graph.keys()) {
  const file = path.slice(path.lastIndexOf("/") + 1, -".ts".length)
  if (!namedOtherwise.test(path) && !/^[A-Z][A-Za-z0-9]*$/.test(file))
    problems.push(`src/${path}: modules are named in PascalCase`)
  if (dirname(path) !== "." && !/^[a-z][a-z0-9]*(\/[a-z][a-z0-9]*)*$/.test(dirname(path)))
    problems.push(`src/${path}: folders are lower case`)
  for (const name of [
    file,
    ...[...readFileSync(join(root, "src", path), "utf8").matchAll(declared)].map((match) => match[1] ?? "")
  ])
    if (saysNothing.test(name)) problems.push(`src/${path}: ${name} says nothing`)
}

const visiting = new Set<string>()
const visited = new Set<string>()
const visit = (path: string, trail: ReadonlyArray<string>): void => {
  if (visited.has(path)) return
  if (visiting.has(path)) {
    problems.push(`circle: ${[...trail.slice(trail.indexOf(path)), path].join(" → ")}`)
    return
  }
  visiting.add(path)
  for (const next of graph.get(path) ?? []) visit(next, [...trail, path])
  visiting.delete(path)
  visited.add(path)
}
for (const path of graph.keys()) visit(path, [])

for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exit(1)
