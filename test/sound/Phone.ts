import { once } from "node:events"
import { Worker } from "node:worker_threads"
import type { CodecName } from "../../src/protocol/audio/codec/Codecs.ts"

/**
 * The sound of a phone: a sine, from its answer on. The frequency is a multiple of 50 Hz, so that it fits into every
 * frame.
 */
export interface Voice {
  readonly hz: number
  readonly dbfs: number
}

/** The behaviour of a phone in one call. */
export interface Plan {
  /** The only codecs it speaks; it talks in the first of them that both sides have. */
  readonly codecs: ReadonlyArray<CodecName>
  readonly voice: Voice
  /** How long it rings when it is called. */
  readonly ringMs: number
}

/**
 * A packet that a phone received; `atMs` is by `performance.timeOrigin + performance.now()`, which all threads share.
 */
export interface Heard {
  readonly atMs: number
  /** Null: a digit, or a format that was not agreed. */
  readonly codec: CodecName | null
  readonly marker: boolean
  readonly sequence: number
  readonly timestamp: number
  readonly payload: Uint8Array
}

/** An act that a test can have a phone do in a call. */
export type Act =
  | { readonly type: "hang_up" }
  /** A re-INVITE: the far end may send nothing, and the phone sends nothing; or both resume. */
  | { readonly type: "hold"; readonly held: boolean }
  /** A re-INVITE with only these codecs. */
  | { readonly type: "renegotiate"; readonly codecs: ReadonlyArray<CodecName> }
  /** Speaks another agreed codec from now on, without a re-INVITE. */
  | { readonly type: "switch"; readonly codec: CodecName }
  /** Silence is not sent, RFC 3551 section 4.1; with comfort noise (RFC 3389) at its beginning. */
  | { readonly type: "silent"; readonly ms: number; readonly comfortNoise: boolean }
  /** Loses one of `every` packets on the way; 0: none. */
  | { readonly type: "lose"; readonly every: number }
  | { readonly type: "say"; readonly voice: Voice }

export type Question =
  | { readonly type: "start"; readonly servicePort: number }
  /** Sets how the phone of this number takes its calls. */
  | { readonly type: "expect"; readonly number: string; readonly plan: Plan }
  | { readonly type: "dial"; readonly from: string; readonly to: string; readonly plan: Plan }
  | { readonly type: "act"; readonly number: string; readonly act: Act }
  | { readonly type: "state"; readonly number: string }
  | { readonly type: "heard"; readonly number: string }

export interface State {
  readonly isUp: boolean
  readonly isOver: boolean
  /** The total lateness of its own packets, of those that were late by more than a packet. */
  readonly lateMs: number
}

export interface Phones {
  /** The port of their SIP. */
  readonly port: number
  readonly expect: (number: string, plan: Plan) => Promise<void>
  readonly dial: (from: string, to: string, plan: Plan) => Promise<void>
  readonly act: (number: string, act: Act) => Promise<void>
  readonly state: (number: string) => Promise<State>
  readonly heard: (number: string) => Promise<ReadonlyArray<Heard>>
  readonly stop: () => Promise<void>
}

/**
 * Phones with real sockets at one SIP peer on loopback, distinguished by their numbers. They run in a separate thread,
 * with a higher priority where the system allows it, so that the pace of the test does not affect the measurement.
 */
export const start = async (servicePort: number): Promise<Phones> => {
  const worker = new Worker(new URL("./Phone.thread.ts", import.meta.url))
  const waiting = new Map<number, (answer: unknown) => void>()
  let questions = 0
  let failed: Error | null = null
  worker.on("message", ({ answer, id }: { readonly id: number; readonly answer: unknown }) => {
    waiting.get(id)?.(answer)
    waiting.delete(id)
  })
  worker.on("error", (error) => {
    failed = error instanceof Error ? error : new Error(String(error))
    for (const resolve of waiting.values()) resolve(null)
  })
  await once(worker, "online")
  const ask = async <A>(question: Question): Promise<A> => {
    const id = ++questions
    const answer = await new Promise<unknown>((resolve) => {
      waiting.set(id, resolve)
      worker.postMessage({ id, question }, [])
    })
    if (failed !== null) throw new Error("the phones died", { cause: failed })
    // The thread answers each question in the shape of its type.
    return answer as A
  }
  const port = await ask<number>({ type: "start", servicePort })
  return {
    port,
    expect: (number, plan) => ask({ type: "expect", number, plan }),
    dial: (from, to, plan) => ask({ type: "dial", from, to, plan }),
    act: (number, act) => ask({ type: "act", number, act }),
    state: (number) => ask({ type: "state", number }),
    heard: (number) => ask({ type: "heard", number }),
    stop: async () => {
      await worker.terminate()
    }
  }
}
