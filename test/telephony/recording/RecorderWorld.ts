import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import * as Wav from "../../../src/protocol/audio/file/Wav.ts"
import { CarrierSink, type CarrierEvent, type Told } from "../../../src/carrier/Carrier.ts"
import { RoomSink } from "../../../src/carrier/room/Rooms.ts"
import type { MediaCommand, MediaEvent } from "../../../src/ports/media/MediaMessage.ts"
import * as MediaPlaneInline from "../../../src/media/plane/MediaPlaneInline.ts"
import { Recorder } from "../../../src/telephony/recording/Recorder.ts"
import { Recordings } from "../../../src/telephony/recording/Recording.ts"
import * as DiskSpool from "../../../src/ports/storage/disk/DiskSpool.ts"
import { Encoders } from "../../../src/ports/storage/disk/Encoders.ts"
import { Spool, SpoolError } from "../../../src/ports/storage/Spool.ts"
import * as VirtualMedia from "../../carrier/VirtualMedia.ts"
import * as Ids from "../../support/Ids.ts"
import * as MemoryStorage from "../../support/fake/MemoryStorage.ts"

export const callId = Ids.call("svc_call_1")
export const tenantId = Ids.tenant("tenant")
export const leg = Ids.leg("leg")

/** A recorder over real sound on the test clock, with a spool on the disk; its calls and store are in memory. */
export const make = () => {
  const storage = MemoryStorage.make()
  const told: Array<MediaEvent> = []
  /** The events that conferences got. */
  const toldRooms: Array<readonly [string, MediaEvent]> = []
  const world = {
    answer: "committed" as Told,
    isStored: true,
    /** How many further queries of `isStored` die. */
    unasked: 0,
    /** How many further writes the disk accepts. */
    writesLeft: Number.POSITIVE_INFINITY
  }
  const sink = Layer.succeed(CarrierSink, {
    offer: () => Effect.die(new Error("no call comes in")),
    tell: (_, event: CarrierEvent) =>
      Effect.sync(() => {
        if (event.type === "media") told.push(event.event)
        return world.answer
      })
  })
  const rooms = Layer.succeed(RoomSink, {
    listen: () => Effect.die(new Error("nobody listens")),
    tell: (conferenceId, event) =>
      Effect.sync(() => {
        if (event.type === "media") toldRooms.push([conferenceId, event.event])
        return world.answer
      })
  })
  const recordings = Layer.mock(Recordings)({
    link: ({ format, id }) => Effect.succeed(`https://here/${id}.${format}`),
    isStored: () =>
      Effect.suspend(() =>
        world.unasked-- > 0 ? Effect.die(new Error("the database is away")) : Effect.succeed(world.isStored)
      )
  })
  const directory = Effect.acquireRelease(
    Effect.promise(async () => mkdtemp(join(tmpdir(), "spool-"))),
    (path) => Effect.promise(async () => rm(path, { recursive: true, force: true }))
  )
  const full = new SpoolError({ reason: "storage_error", detail: "ENOSPC" })
  const spool = Layer.effect(
    Spool,
    Effect.map(Spool, (disk) =>
      Spool.of({
        ...disk,
        open: (of, shape) =>
          Effect.map(disk.open(of, shape), (writer) => ({
            ...writer,
            append: (bytes) => (world.writesLeft-- > 0 ? writer.append(bytes) : Effect.fail(full))
          }))
      })
    )
  )
  const disk = (path: string) => spool.pipe(Layer.provideMerge(DiskSpool.layer(path)), Layer.provide(Encoders.layer))
  const layerOver = (path: string) =>
    Recorder.layer.pipe(
      Layer.provideMerge(disk(path)),
      Layer.provideMerge(VirtualMedia.plane({ maxLegs: 20, ports: MediaPlaneInline.noPorts })),
      Layer.provide([storage.layer, sink, rooms, recordings])
    )
  return {
    ...storage,
    world,
    told,
    toldRooms,
    layerOver,
    layer: Layer.unwrap(Effect.map(directory, layerOver)),
    directory,
    /** The file under a key with this ending. */
    fileOf: (end: string): Uint8Array => {
      const found = [...storage.files].find(([key]) => key.endsWith(end))
      if (found === undefined) throw new Error(`there is no ${end} among ${[...storage.files.keys()].join()}`)
      return found[1]
    },
    /** Waits in real time until it holds. */
    until: (holds: () => boolean, what: string) =>
      Effect.promise(async () => {
        for (let i = 0; i < 1000 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
        if (!holds()) throw new Error(`it never came to this: ${what}`)
      })
  }
}

/** The channels of a WAVE file of 16 bits, and its rate. */
export const wav = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const channels = view.getUint16(22, true)
  const data = view.getUint32(40, true)
  return {
    rate: view.getUint32(24, true),
    stated: data + Wav.headerLength,
    channels: Array.from({ length: channels }, (_, channel) =>
      Int16Array.from({ length: data / 2 / channels }, (_, i) =>
        view.getInt16(Wav.headerLength + 2 * (i * channels + channel), true)
      )
    )
  }
}

export const start = (
  id: string,
  fields: Partial<Extract<MediaCommand, { readonly type: "start_recording" }>> = {}
): MediaCommand => ({
  type: "start_recording",
  id: Ids.work(id.padStart(32, "0")),
  callId,
  channels: "dual",
  format: "wav",
  maxLengthMs: null,
  hasBeep: false,
  beepEveryMs: null,
  ...fields
})
