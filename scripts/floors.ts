/**
 * Holds the walls of the house (src/README.md#wings) and prints their figures: which wing may use which, inside a wing
 * which room, which file is the door of a feature, what a wing may have of Node and of packages, and how files are
 * named. A row below that names something that does not exist, or that no import needs, fails too.
 */
import { parseSync } from "oxc-parser"
import { existsSync, globSync, readFileSync } from "node:fs"
import { basename, dirname, join, normalize, relative } from "node:path"

const root = new URL("..", import.meta.url).pathname

/** Wings from the bottom to the top, each with the wings that it uses. */
const wings: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: [],
  protocol: ["domain"],
  runtime: ["domain"],
  ports: ["domain", "protocol", "runtime"],
  media: ["domain", "protocol", "runtime", "ports"],
  carrier: ["domain", "protocol", "runtime", "ports", "media"],
  money: ["domain", "runtime", "ports"],
  numbers: ["domain", "runtime", "ports", "carrier", "money"],
  telephony: ["domain", "protocol", "runtime", "ports", "media", "carrier", "money", "numbers"],
  tenancy: ["domain", "runtime", "ports", "money", "telephony"],
  webhook: ["domain", "runtime", "ports"],
  edge: ["domain", "runtime", "ports", "carrier", "money", "numbers", "telephony", "tenancy", "webhook"],
  app: [
    "domain",
    "protocol",
    "runtime",
    "ports",
    "media",
    "carrier",
    "money",
    "numbers",
    "telephony",
    "tenancy",
    "webhook",
    "edge"
  ]
}

/** The rooms of a wing, each with the rooms of the same wing that it uses. The other wings are one room each. */
const rooms: Readonly<Record<string, Readonly<Record<string, ReadonlyArray<string>>>>> = {
  protocol: { sip: [], rtp: [], audio: [] },
  runtime: {
    process: [],
    actor: ["process"],
    store: ["process", "actor"],
    job: ["process", "store"],
    audit: ["store", "idempotency"],
    idempotency: ["store"],
    retention: ["store", "job"]
  },
  ports: {
    egress: [],
    media: [],
    lookup: [],
    mail: ["egress"],
    payment: ["egress"],
    storage: ["egress"],
    speech: ["egress", "media"],
    letter: ["mail"]
  },
  money: {
    usage: [],
    billing: [],
    account: [],
    cost: ["billing"],
    invoice: [],
    plan: ["account", "usage"],
    funding: ["account", "billing"],
    proof: ["billing", "funding"]
  },
  numbers: { trunk: [], number: ["trunk"], porting: ["trunk", "number"] },
  telephony: {
    live: [],
    verb: [],
    recording: [],
    transcription: [],
    call: ["live", "verb", "recording", "transcription"],
    conference: ["live", "verb", "recording", "call"]
  },
  tenancy: { target: [], tenant: [], apikey: [], team: ["tenant", "apikey"], closing: [] },
  edge: { http: [], operator: [] },
  app: { boot: [], composition: ["boot"], testing: ["boot", "composition"] }
}

/** Features have one door each, named like the room. Everybody outside of the room enters by it. */
const features: ReadonlyArray<string> = [
  ...["money", "numbers", "telephony", "tenancy"].flatMap((wing) =>
    Object.keys(rooms[wing] ?? {}).map((room) => `${wing}/${room}`)
  ),
  "runtime/audit",
  "runtime/retention",
  "carrier/ban",
  "webhook"
].filter((room) => room !== "telephony/live" && room !== "telephony/verb")

/** Second doors, for the composition alone: work that runs beside the requests, and layers that it puts together. */
const serviceDoors = [
  "telephony/recording/Recorder.ts",
  "telephony/transcription/Transcriber.ts",
  "tenancy/tenant/Onboarding.ts",
  "webhook/Dispatcher.ts"
]

/**
 * Implementations of ports. They may use Node and packages as they like, and only the composition names them. The media
 * thread is a program of its own, so it opens the sockets of its streams itself.
 */
const adapters: Readonly<Record<string, ReadonlyArray<string>>> = {
  "runtime/store/embedded": [],
  "runtime/store/postgres": [],
  "ports/egress/node": ["media/udp"],
  "ports/lookup/offline": [],
  "ports/mail/log": [],
  "ports/mail/smtp": [],
  "ports/payment/development": [],
  "ports/payment/stripe": [],
  "ports/speech/openai": [],
  "ports/speech/process": [],
  "ports/speech/socket": [],
  "ports/storage/disk": [],
  "ports/storage/s3": [],
  "media/udp": [],
  "carrier/simulator": [],
  "carrier/sip": [],
  "money/invoice/pdf": [],
  "tenancy/tenant/thread": []
}

/** Inside a room: pure rules know neither their rows nor the fibers around them, and rows know no fibers. */
const walls: ReadonlyArray<readonly [from: string, notTo: string]> = [
  ["telephony/call/machine", "telephony/call/stored"],
  ["telephony/call/machine", "telephony/call/shell"],
  ["telephony/call/verb", "telephony/call/stored"],
  ["telephony/call/verb", "telephony/call/shell"],
  ["telephony/call/stored", "telephony/call/shell"],
  ["telephony/conference/machine", "telephony/conference/stored"],
  ["telephony/conference/machine", "telephony/conference/shell"],
  ["telephony/conference/verb", "telephony/conference/stored"],
  ["telephony/conference/verb", "telephony/conference/shell"],
  ["telephony/conference/stored", "telephony/conference/shell"]
]

/**
 * Protocols import nothing of ours outside of their room but plain data structures, which know neither calls nor SIP,
 * and words of RFCs that the API shows as SIP has them.
 */
const structures = [
  "domain/time/DeadlineHeap.ts",
  "domain/fair/FairShare.ts",
  "domain/network/IpAddress.ts",
  "domain/caller/CallerTerms.ts"
]

/** An operator's target may be private, so it is made of configuration only. Elsewhere it is a type. */
const operatorTarget = "ports/egress/OperatorTarget.ts"
const makesOperatorTargets = "app/boot/"

/**
 * Computations over given bytes, which every wing may have of Node. `randomBytes` and its kin are the outside world.
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
  "node:util": new Set(["isDeepStrictEqual"]),
  "node:zlib": new Set(["constants", "gunzipSync", "inflateSync", "brotliDecompressSync", "zstdDecompressSync"])
}

/** Packages that code outside of adapters, edges and the composition may use, by wing. */
const packages: Readonly<Record<string, RegExp>> = {
  domain: /^(effect(\/|$)|ipaddr\.js$|libphonenumber-js\/max$)/,
  protocol:
    /^(effect(\/|$)|ipaddr\.js$|sdp-transform$|@echogarden\/speex-resampler-wasm|mpg123-decoder$|@wasm-audio-decoders\/|codec-parser$)/,
  media: /^(effect(\/|$)|mpg123-decoder$)/,
  carrier: /^(effect(\/|$)|libphonenumber-js)/,
  ports: /^(effect(\/|$)|ipaddr\.js$)/,
  runtime: /^(effect(\/|$)|@effect\/sql-pg\/PgTypes$)/,
  money: /^(effect(\/|$)|libphonenumber-js)/,
  numbers: /^(effect(\/|$)|libphonenumber-js)/
}
const everywhere = /^effect(\/|$)/

/**
 * Files that may fork a fiber themselves. All others use `runtime/process/Supervised.ts`, so that a death is seen
 * (src/runtime/README.md#supervision). The fibers of these files end by themselves: a load, a request to a peer, a name
 * that is resolved, a line of the log, a probe.
 */
const mayFork = [
  "runtime/process/Supervised.ts",
  "runtime/actor/Actor.ts",
  "runtime/actor/Registry.ts",
  "domain/fair/FairSemaphore.ts",
  "runtime/idempotency/Idempotency.ts",
  "runtime/idempotency/ReceiptLookup.ts",
  "telephony/call/shell/CallLog.ts",
  "numbers/trunk/KnownPeers.ts",
  "ports/egress/node/StreamExchange.ts",
  "media/plane/MediaPlaneInline.ts",
  "edge/operator/door/Probes.ts"
]

const mostFiles = 15
/** Folders that may hold more: pages, which readers look up by name. */
const crowded = ["guide"]

const namedOtherwise =
  /^(main|edge\/operator\/cli)\.ts$|^runtime\/store\/migration\/([a-z]+\/)?\d{4}_[a-z_]+\.ts$|\.d\.ts$/
const saysNothing = /(Manager|Helper|Util|Utils|Impl|Service)$/

interface Import {
  readonly target: string
  readonly isType: boolean
  readonly names: ReadonlyArray<string>
}

const problems: Array<string> = []
const report = (path: string, problem: string) => problems.push(`src/${path}: ${problem}`)

const sources = new Map(
  globSync("src/**/*.ts", { cwd: root })
    .toSorted()
    .map((file) => [relative("src", file), readFileSync(join(root, file), "utf8")] as const)
)

const importsOf = (path: string, source: string): ReadonlyArray<Import> => {
  const { dynamicImports, staticExports, staticImports } = parseSync(path, source).module
  return [
    ...staticImports.map(({ entries, moduleRequest }) => ({
      target: moduleRequest.value,
      isType: entries.length > 0 && entries.every((entry) => entry.isType),
      names: entries.map((entry) => entry.importName.name ?? "*")
    })),
    ...staticExports
      .flatMap(({ entries }) => entries)
      .flatMap(({ importName, isType, moduleRequest }) =>
        moduleRequest === null ? [] : [{ target: moduleRequest.value, isType, names: [importName.name ?? "*"] }]
      ),
    ...dynamicImports
      .map(({ moduleRequest }) => source.slice(moduleRequest.start, moduleRequest.end))
      .filter((literal) => literal.startsWith('"'))
      .map((literal) => ({ target: literal.slice(1, -1), isType: false, names: ["*"] }))
  ]
}

const isOurs = (target: string) => target.startsWith(".")
const imports = new Map(
  [...sources].map(([path, source]) => [
    path,
    importsOf(path, source).map((each) =>
      isOurs(each.target) ? { ...each, target: normalize(join(dirname(path), each.target)) } : each
    )
  ])
)

const wingOf = (path: string) => (path === "main.ts" ? "app" : (path.split("/")[0] ?? ""))
const roomOf = (path: string) => {
  const [wing = "", room = ""] = path.split("/")
  return rooms[wing] === undefined ? wing : `${wing}/${room}`
}
const isIn = (path: string, folder: string) => path.startsWith(`${folder}/`)
const adapterOf = (path: string) => Object.keys(adapters).find((adapter) => isIn(path, adapter))

const doorOf = (feature: string) => {
  const name = basename(feature)
  return [...sources.keys()].find(
    (path) => dirname(path) === feature && basename(path, ".ts").toLowerCase() === name.toLowerCase()
  )
}

const usedArrows = new Set<string>()
const crossings = { between: 0, all: 0 }

const checkArrow = (path: string, { isType, target }: Import) => {
  const [here, there] = [wingOf(path), wingOf(target)]
  const [fromRoom, toRoom] = [roomOf(path), roomOf(target)]
  crossings.all += 1
  if (here !== there) {
    crossings.between += 1
    usedArrows.add(`${here} → ${there}`)
    if (!(wings[here] ?? []).includes(there)) report(path, `${here} may not use ${there} (${target})`)
  } else if (fromRoom !== toRoom && path !== "main.ts") {
    usedArrows.add(`${fromRoom} → ${toRoom}`)
    if (!(rooms[here]?.[basename(fromRoom)] ?? []).includes(basename(toRoom)))
      report(path, `${fromRoom} may not use ${toRoom} (${target})`)
  }
  if (here === "protocol" && fromRoom !== toRoom && !structures.includes(target))
    report(path, `a protocol may not use ${target}`)
  const adapter = adapterOf(target)
  if (adapter !== undefined && adapterOf(path) !== adapter && here !== "app") {
    if ((adapters[adapter] ?? []).some((user) => isIn(path, user))) usedArrows.add(`adapter ${adapter}`)
    else report(path, `only the composition names the adapter ${target}`)
  }
  const feature = features.find((room) => isIn(target, room))
  if (feature !== undefined && !isIn(path, feature) && adapter === undefined && target !== doorOf(feature)) {
    if (here === "app" && serviceDoors.includes(target)) usedArrows.add(target)
    else report(path, `goes round the door of ${feature} (${target})`)
  }
  for (const [from, notTo] of walls)
    if (isIn(path, from) && isIn(target, notTo)) report(path, `${from} may not know ${notTo} (${target})`)
  if (target === operatorTarget && !isType && !path.startsWith(makesOperatorTargets))
    report(path, `may import only the type of ${target}`)
}

const checkPackage = (path: string, { names, target }: Import) => {
  const wing = wingOf(path)
  if (wing === "edge" || wing === "app" || adapterOf(path) !== undefined) return
  const computing = computations[target]
  if (computing === undefined) {
    if (!(packages[wing] ?? everywhere).test(target)) report(path, `${wing} may not import ${target}`)
    return
  }
  for (const name of names)
    if (!computing.has(name)) report(path, `of ${target} only computations are allowed here, not ${name}`)
}

const checkNames = (path: string, source: string) => {
  if (!namedOtherwise.test(path) && !/^[A-Z][A-Za-z0-9]*$/.test(basename(path, ".ts")))
    report(path, "modules are named in PascalCase")
  if (dirname(path) !== "." && !/^[a-z][a-z0-9]*(\/[a-z][a-z0-9]*)*$/.test(dirname(path)))
    report(path, "folders are lower case")
  const declared = [...source.matchAll(/^export (?:abstract )?(?:class|const|interface|type|function) (\w+)/gm)]
  for (const name of [basename(path, ".ts"), ...declared.map((match) => match[1] ?? "")])
    if (saysNothing.test(name)) report(path, `${name} says nothing`)
}

for (const [path, source] of sources) {
  if (wings[wingOf(path)] === undefined) report(path, "is in no wing that scripts/floors.ts knows")
  if (
    path !== "main.ts" &&
    rooms[wingOf(path)] !== undefined &&
    !(basename(roomOf(path)) in (rooms[wingOf(path)] ?? {}))
  )
    report(path, "is in no room that scripts/floors.ts knows")
  for (const each of imports.get(path) ?? [])
    if (isOurs(each.target) || sources.has(each.target)) checkArrow(path, each)
    else checkPackage(path, each)
  if (!mayFork.includes(path) && /Effect\.fork(Scoped|Detach|In)\b/.test(source))
    report(path, "a fiber of the service is begun by runtime/process/Supervised.ts")
  checkNames(path, source)
}

/** Rows of this file that name something that is not there, or that nothing needs. */
const missing = (row: string) => problems.push(`scripts/floors.ts: ${row} does not exist`)
const unused = (row: string) => problems.push(`scripts/floors.ts: nothing needs ${row}`)
for (const file of [...serviceDoors, ...structures, ...mayFork, operatorTarget]) if (!sources.has(file)) missing(file)
for (const file of serviceDoors) if (!usedArrows.has(file)) unused(file)
for (const file of mayFork) if (!/Effect\.fork/.test(sources.get(file) ?? "")) unused(`the fork of ${file}`)
for (const folder of [
  ...Object.keys(wings),
  ...Object.entries(rooms).flatMap(([wing, of]) => Object.keys(of).map((room) => `${wing}/${room}`)),
  ...Object.keys(adapters),
  ...walls.flat(),
  ...crowded
])
  if (!existsSync(join(root, "src", folder))) missing(folder)
for (const feature of features) if (doorOf(feature) === undefined) missing(`the door of ${feature}`)
for (const [wing, uses] of Object.entries(wings))
  for (const other of uses) if (!usedArrows.has(`${wing} → ${other}`)) unused(`${wing} → ${other}`)
for (const [wing, of] of Object.entries(rooms))
  for (const [room, uses] of Object.entries(of))
    for (const other of uses)
      if (!usedArrows.has(`${wing}/${room} → ${wing}/${other}`)) unused(`${wing}/${room} → ${wing}/${other}`)
for (const [adapter, users] of Object.entries(adapters))
  if (users.length > 0 && !usedArrows.has(`adapter ${adapter}`)) unused(`${adapter} for ${users.join(", ")}`)

const homonyms = Map.groupBy(sources.keys(), (path) => basename(path))
for (const [name, paths] of homonyms) if (paths.length > 1) problems.push(`${name} names ${paths.join(" and ")}`)

const filesOf = new Map<string, number>()
for (const file of globSync("src/**/*.{ts,md,html,json}", { cwd: root })) {
  const folder = relative("src", dirname(file))
  filesOf.set(folder, (filesOf.get(folder) ?? 0) + 1)
}
const full = [...filesOf].filter(([folder, files]) => files > mostFiles && !crowded.includes(folder))
for (const [folder, files] of full) problems.push(`src/${folder}: ${files} files, more than ${mostFiles}`)

const finished = new Set<string>()
const findCircle = (path: string, trail: ReadonlyArray<string>): void => {
  if (finished.has(path)) return
  if (trail.includes(path)) {
    problems.push(`circle: ${[...trail.slice(trail.indexOf(path)), path].join(" → ")}`)
    return
  }
  for (const { target } of imports.get(path) ?? []) if (sources.has(target)) findCircle(target, [...trail, path])
  finished.add(path)
}
for (const path of sources.keys()) findCircle(path, [])

const roomCount = new Set([...sources.keys()].map(roomOf)).size
console.log(
  `${Object.keys(wings).length} wings, ${roomCount} rooms, ${sources.size} files, ${crossings.all} imports, ` +
    `${crossings.between} between wings along ${Object.values(wings).flat().length} arrows, ` +
    `${full.length} folders of more than ${mostFiles} files, ` +
    `${[...homonyms.values()].filter((paths) => paths.length > 1).length} homonyms`
)
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exit(1)
