import { Context, Effect, Layer, type Scope } from "effect"

/** Whom a carrier does not hear (guide/sip.md#bans). Times are epoch milliseconds. */
export interface Ban {
  /** An address in its one spelling, or a network in CIDR form. */
  readonly network: string
  /** `operator`: the operator's, kept until it expires; `automatic`: the carrier's own, of a loud stranger. */
  readonly by: "operator" | "automatic"
  readonly reason: string
  readonly createdAt: number
  /** Null: it stands until it is removed. */
  readonly expiresAt: number | null
}

/** A stranger that was loud of late. */
export interface LoudStranger {
  /** An IPv4 address, or an IPv6 network of 64 bits. */
  readonly source: string
  /** Messages in the last whole interval and in this one. */
  readonly messages: number
}

/** One carrier's edge towards strangers. */
export interface Edge {
  /** The operator's bans, all of them; takes the place of those before. */
  readonly take: (bans: ReadonlyArray<Ban>) => void
  /** Its automatic bans that stand. */
  readonly automatic: () => ReadonlyArray<Ban>
  /** Takes back its automatic bans within the network; gives their number. */
  readonly lift: (network: string) => number
  /** The loudest first. */
  readonly loudest: () => ReadonlyArray<LoudStranger>
}

/** The edges of all carriers, as one. Bans hold from when they are taken; an edge that comes later gets them, too. */
export class Perimeter extends Context.Service<
  Perimeter,
  {
    readonly register: (edge: Edge) => Effect.Effect<void, never, Scope.Scope>
    readonly take: Edge["take"]
    readonly automatic: Edge["automatic"]
    readonly lift: Edge["lift"]
    readonly loudest: Edge["loudest"]
  }
>()("trunkline/carrier/Perimeter") {
  static readonly layer = Layer.sync(Perimeter, () => {
    const edges = new Set<Edge>()
    let bans: ReadonlyArray<Ban> = []
    return Perimeter.of({
      register: (edge) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            edges.add(edge)
            edge.take(bans)
          }),
          () => Effect.sync(() => edges.delete(edge))
        ),
      take: (next) => {
        bans = next
        for (const edge of edges) edge.take(next)
      },
      automatic: () => [...edges].flatMap((edge) => edge.automatic()),
      lift: (network) => [...edges].reduce((sum, edge) => sum + edge.lift(network), 0),
      loudest: () => [...edges].flatMap((edge) => edge.loudest()).sort((a, b) => b.messages - a.messages)
    })
  })
}
