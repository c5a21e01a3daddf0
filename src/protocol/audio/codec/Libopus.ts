/**
 * libopus 1.6.1 in WebAssembly, loaded with this module.
 *
 * The package cannot make a coder synchronously, and copies each packet into new memory. So this module calls the C
 * functions of its WebAssembly module directly, as the package does.
 */

/** The part of the C interface that is used; pointers are numbers, heaps move when memory grows. */
interface Libopus {
  readonly HEAPU8: Uint8Array
  readonly HEAP16: Int16Array
  readonly _malloc: (bytes: number) => number
  readonly _free: (pointer: number) => void
  readonly _oc_create_encoder: (rate: number, channels: number, application: number, errorPointer: number) => number
  readonly _oc_destroy_encoder: (encoder: number) => void
  readonly _oc_encode: (encoder: number, pcm: number, samples: number, packet: number, capacity: number) => number
  readonly _oc_encoder_ctl: (encoder: number, request: number, value: number) => number
  readonly _oc_create_decoder: (rate: number, channels: number, errorPointer: number) => number
  readonly _oc_destroy_decoder: (decoder: number) => void
  readonly _oc_decode: (
    decoder: number,
    packet: number,
    octets: number,
    pcm: number,
    samples: number,
    fec: number
  ) => number
}

const place = new URL("generated/libopus.generated.mjs", import.meta.resolve("libopus-wasm"))
const loaded: { readonly default: () => Promise<Libopus> } = await import(place.href)
const opus = await loaded.default()

/** The requests to an encoder, from `opus_defines.h`. */
const request = {
  bitrate: 4002,
  complexity: 4010,
  fec: 4012,
  lossPercent: 4014,
  dtx: 4016
} as const
const applicationVoip = 2048

let held = 0

/** The number of coders whose memory was not freed yet. */
export const codersHeld = (): number => held

/** Memory for samples and for one packet, seen through views that follow it when it moves. */
const buffers = (samples: number, octets: number) => {
  const pcm = opus._malloc(samples * 2)
  const packet = opus._malloc(octets)
  let heap = opus.HEAP16
  let pcmView = heap.subarray(pcm >> 1, (pcm >> 1) + samples)
  let packetView = opus.HEAPU8.subarray(packet, packet + octets)
  const look = (): void => {
    if (heap === opus.HEAP16) return
    heap = opus.HEAP16
    pcmView = heap.subarray(pcm >> 1, (pcm >> 1) + samples)
    packetView = opus.HEAPU8.subarray(packet, packet + octets)
  }
  return {
    pcm,
    packet,
    samples: (): Int16Array => {
      look()
      return pcmView
    },
    octets: (): Uint8Array => {
      look()
      return packetView
    },
    free: (): void => {
      opus._free(pcm)
      opus._free(packet)
    }
  }
}

const created = (pointer: number): number => {
  if (pointer === 0) throw new Error("libopus has no memory for a coder")
  held++
  return pointer
}

/** An encoder of one channel, for frames of `frameSamples` and packets of up to `capacity` octets. */
export const encoder = (rate: number, frameSamples: number, capacity: number) => {
  const state = created(opus._oc_create_encoder(rate, 1, applicationVoip, 0))
  const memory = buffers(frameSamples, capacity)
  return {
    set: (what: keyof typeof request, value: number): void => void opus._oc_encoder_ctl(state, request[what], value),
    /** Returns the length of the packet, which is in `octets`. */
    encode: (samples: Int16Array): number => {
      memory.samples().set(samples)
      return opus._oc_encode(state, memory.pcm, frameSamples, memory.packet, capacity)
    },
    octets: memory.octets,
    free: (): void => {
      held--
      opus._oc_destroy_encoder(state)
      memory.free()
    }
  }
}

/** A decoder of one channel, for packets of up to `capacity` octets and `mostSamples`. */
export const decoder = (rate: number, mostSamples: number, capacity: number) => {
  let state = created(opus._oc_create_decoder(rate, 1, 0))
  const memory = buffers(mostSamples, capacity)
  return {
    /** Returns the number of samples, which are in `samples`, or a negative number for an invalid packet. */
    decode: (payload: Uint8Array): number => {
      if (payload.length > capacity) return -1
      memory.octets().set(payload)
      return opus._oc_decode(state, memory.packet, payload.length, memory.pcm, mostSamples, 0)
    },
    /** Conceals this many samples, a multiple of 2.5 ms, with the copy in the packet after them if there is one. */
    conceal: (samples: number, following: Uint8Array | null): number => {
      if (following === null || following.length > capacity) return opus._oc_decode(state, 0, 0, memory.pcm, samples, 0)
      memory.octets().set(following)
      return opus._oc_decode(state, memory.packet, following.length, memory.pcm, samples, 1)
    },
    samples: memory.samples,
    /** Returns to the state before the first packet. The package does not expose a reset. */
    reset: (): void => {
      held--
      opus._oc_destroy_decoder(state)
      state = created(opus._oc_create_decoder(rate, 1, 0))
    },
    free: (): void => {
      held--
      opus._oc_destroy_decoder(state)
      memory.free()
    }
  }
}
