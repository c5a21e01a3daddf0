import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import * as Wav from "../../../../src/protocol/audio/file/Wav.ts"
import * as Patience from "../Patience.ts"
import * as Client from "../peer/Client.ts"
import type { Recorded } from "./Load.ts"
import type { World } from "../World.ts"

/** The invariants of recordings after a restart (guide/recordings.md#what-you-are-told). Each line is a violation. */
type Lines = ReadonlyArray<string>

interface Row {
  readonly id: string
  readonly tenantId: string
  readonly callId: string
  readonly channels: "single" | "dual"
  readonly format: "mp3" | "wav"
  readonly status: string
  readonly seconds: number
  readonly bytes: number
}

const rowsOf = (world: World) =>
  world.database().query<Row>(`
    SELECT id, tenant_id AS "tenantId", call_id AS "callId", channels, format, status,
      duration_seconds AS seconds, size_bytes::float8 AS bytes FROM recording`)

/** All files below a folder; none where there is no folder. */
const filesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  try {
    const found = await readdir(folder, { recursive: true, withFileTypes: true })
    return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return []
  }
}

/** The spool is empty, the store holds nothing half written, and every file has its recording. */
export const leftBehind = async (world: World): Promise<Lines> => {
  const rows = await rowsOf(world)
  const known = new Set(rows.filter(({ status }) => status === "available").map(({ format, id }) => `${id}.${format}`))
  const nameOf = (path: string) => path.replace(/^.*\//u, "")
  const stored = (await filesIn(join(world.dataDir, "files"))).map(nameOf)
  const missing = [...known].filter((name) => !stored.includes(name))
  return [
    ...(await filesIn(join(world.dataDir, "spool"))).map((path) => `${nameOf(path)} is still on the spool`),
    ...stored.filter((name) => !known.has(name)).map((name) => `${name} is in the store, and is no recording`),
    ...missing.map((name) => `${name} is not in the store`)
  ]
}

/** Bits of an MP3 in a second, for each channel (guide/recordings.md#start_recording). */
const bitRates: Readonly<Record<number, number>> = { 8000: 16_000, 16_000: 32_000 }

/** The milliseconds of sound in a file; a text: why it cannot be read. */
const lengthOf = ({ channels, format }: Row, bytes: Uint8Array): number | string => {
  const wide = channels === "dual" ? 2 : 1
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (format === "wav") {
    if (!Wav.isWav(bytes) || bytes.length < Wav.headerLength) return "no WAVE file"
    const [count, rate, length] = [view.getUint16(22, true), view.getUint32(24, true), view.getUint32(40, true)]
    if (length !== bytes.length - Wav.headerLength) return `a header of ${length} bytes on ${bytes.length}`
    return count === wide ? (length / (2 * wide) / rate) * 1000 : `${count} channels`
  }
  // MPEG-2 or 2.5, layer III: the header holds the sampling rate (ISO/IEC 13818-3).
  const [sync, second = 0, third = 0] = bytes
  if (sync !== 0xff || (second & 0xe6) !== 0xe2) return "no MP3"
  const rate = [11_025, 12_000, 8_000][(third >> 2) & 3] ?? 0
  const hertz = (second & 0x18) === 0 ? rate : 2 * rate
  return (bytes.length * 8000) / (wide * (bitRates[hertz] ?? Number.NaN))
}

/** Rounding of its length, and the frames that an encoder adds. */
const toleranceMs = 750
/** The most sound that a crash may cost. On a busy machine the writer of the file comes later by its share. */
const lostMs = 1_000
/** The time from the command to its first frame, on the machine of the test. */
const slackMs = 300

const read = async (world: World, { format, id }: Row): Promise<Uint8Array> =>
  readFile(join(world.dataDir, "files", "recordings", id.slice(-32, -30), `${id}.${format}`))

/**
 * Each stored recording can be read, is as long as its row says, and lacks no more of the talk than its last second.
 */
export const whole = async (
  world: World,
  recorded: ReadonlyArray<Recorded>,
  killedAt: number | null
): Promise<Lines> => {
  const byCall = Map.groupBy(await rowsOf(world), ({ callId }) => callId)
  const ends = new Map(
    (
      await world
        .database()
        .query<{ readonly id: string; readonly how: string }>(
          "SELECT id, concat_ws(' ', end_reason, end_initiator) AS how FROM call"
        )
    ).map(({ how, id }) => [id, how])
  )
  const lines: Array<string> = []
  const mayMissMs = (lostMs + slackMs) / Patience.share()
  for (const { callId, since, until } of recorded) {
    const rows = byCall.get(callId) ?? []
    const how = ends.get(callId)
    const end = how === "carrier_error system" ? Math.min(until ?? Infinity, killedAt ?? 0) : (until ?? 0)
    // These tests do not know when anything else ended it.
    const isKnown = how === "carrier_error system" || how === "normal_clearing api"
    const leastMs = isKnown ? end - since - mayMissMs : 0
    const [row] = rows
    if (row === undefined) {
      if (leastMs > 0) lines.push(`${callId} was recorded for ${Math.round(end - since)} ms, and has no recording`)
      continue
    }
    if (row.status !== "available") {
      if (leastMs > 0) lines.push(`${row.id} of ${Math.round(end - since)} ms is ${row.status}`)
      continue
    }
    const bytes = await read(world, row).catch(() => null)
    const lengthMs = bytes === null ? "no file" : lengthOf(row, bytes)
    if (bytes?.length !== row.bytes) lines.push(`${row.id} is said to have ${row.bytes} bytes and has ${bytes?.length}`)
    if (typeof lengthMs === "string" || Number.isNaN(lengthMs)) {
      lines.push(`${row.id} cannot be read: ${lengthMs}`)
      continue
    }
    if (Math.abs(lengthMs - 1000 * row.seconds) > toleranceMs && row.seconds > 1)
      lines.push(`${row.id} is said to have ${row.seconds} s and has ${Math.round(lengthMs)} ms`)
    if (rows.length === 1 && lengthMs < leastMs)
      lines.push(
        `${row.id} of ${callId} (${how}) has ${Math.round(lengthMs)} ms of the ${Math.round(end - since)} ms that were recorded`
      )
  }
  return lines
}

const sampleSize = 10

/** The newest recordings can be downloaded, whole and in part. */
export const downloads = async (world: World): Promise<Lines> => {
  const lines: Array<string> = []
  for (const { apiKey } of world.tenants) {
    const listed = await Client.request(`${world.baseUrl}/v1/recordings?page_size=${sampleSize}`, {
      method: "GET",
      bearer: apiKey
    })
    if (listed?.status !== 200) {
      lines.push(`the list of recordings was answered by ${listed?.status}`)
      continue
    }
    const { results } = JSON.parse(listed.body) as {
      readonly results: ReadonlyArray<{
        readonly id: string
        readonly status: string
        readonly size_bytes: number
        readonly download_url: string | null
      }>
    }
    for (const { download_url: url, id, size_bytes: bytes, status } of results) {
      if (status !== "available" || url === null) continue
      const all = await fetch(url)
      const length = (await all.arrayBuffer()).byteLength
      if (all.status !== 200 || length !== bytes)
        lines.push(`${id} of ${bytes} bytes is downloaded as ${length} (${all.status})`)
      const part = await fetch(url, { headers: { range: "bytes=10-19" } })
      const some = (await part.arrayBuffer()).byteLength
      if (part.status !== 206 || some !== 10) lines.push(`10 bytes of ${id} are downloaded as ${some} (${part.status})`)
    }
  }
  return lines
}
