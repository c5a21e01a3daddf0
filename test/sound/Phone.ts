import { once } from "node:events"
import { Worker } from "node:worker_threads"
import type { CodecName } from "../../src/protocol/audio/codec/Codecs.ts"

/** What a phone says: a sine, from its answer on. The frequency is a multiple of 50 Hz, so that it fits into every frame. */
export interface Voice {
  readonly hz: number
  readonly dbfs: number
}

/** A phone, as it behaves in one call. */
export interface Plan {
  /** It speaks these, and nothing else; it talks in the first of them that both sides have. */
  readonly codecs: ReadonlyArray<CodecName>
  readonly voice: Voice
  /** So long a called one rings. */
  readonly ringMs: number
}

/** A packet that a phone heard; `atMs` by `performance.timeOrigin + performance.now()`, which all threads share. */
export interface Heard {
  readonly atMs: number
  /** Null: a digit, or nothing that was agreed upon. */
  readonly codec: CodecName | null
  readonly marker: boolean
  readonly sequence: number
  readonly timestamp: number
  readonly payload: Uint8Array
}

/** What a phone can be told in a call. */
export type Act =
  | { readonly type: "hang_up" }
  /** A re-INVITE: the far end is told to send nothing, and the phone sends nothing; or both go on. */
  | { readonly type: "hold"; readonly held: boolean }
  /** A re-INVITE with these codecs alone. */
  | { readonly type: "renegotiate"; readonly codecs: ReadonlyArray<CodecName> }
  /** Speaks another agreed codec from now on, without asking. */
  | { readonly type: "switch"; readonly codec: CodecName }
  /** Silence is not sent, RFC 3551 section 4.1; with comfort noise (RFC 3389) at its beginning. */
  | { readonly type: "silent"; readonly ms: number; readonly comfortNoise: boolean }
  /** Every so many packets one is lost on the way; 0: none. */
  | { readonly type: "lose"; readonly every: number }
  | { readonly type: "say"; readonly voice: Voice }

export type Question =
  | { readonly type: "start"; readonly servicePort: number }
  /** The phone of this number takes its calls so. */
  | { readonly type: "expect"; readonly number: string; readonly plan: Plan }
  | { readonly type: "dial"; readonly from: string; readonly to: string; readonly plan: Plan }
  | { readonly type: "act"; readonly number: string; readonly act: Act }
  | { readonly type: "state"; readonly number: string }
  | { readonly type: "heard"; readonly number: string }

export interface State {
  readonly isUp: boolean
  readonly isOver: boolean
  /** How late its own packets were sent in all, where that was more than one is long. */
  readonly lateMs: number
}

export interface Phones {
  /** Of their SIP. */
  readonly port: number
  readonly expect: (number: string, plan: Plan) => Promise<void>
  readonly dial: (from: string, to: string, plan: Plan) => Promise<void>
  readonly act: (number: string, act: Act) => Promise<void>
  readonly state: (number: string) => Promise<State>
  readonly heard: (number: string) => Promise<ReadonlyArray<Heard>>
  readonly stop: () => Promise<void>
}

/**
 * Phones with real sockets behind one SIP peer on loopback, told apart by their numbers. They run in a thread of their own,
 * before others where the system allows it, so that what is measured is not the pace of the test.
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
    // The thread answers each question in its own shape.
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
