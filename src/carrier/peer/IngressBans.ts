import { Context, Effect, Layer, type Scope } from "effect"

/** A ban: a carrier ignores the network (guide/sip.md#bans). Times are epoch milliseconds. */
export interface Ban {
  /** An address in its canonical spelling, or a network in CIDR form. */
  readonly network: string
  /**
   * `operator`: a ban by the operator, kept until it expires; `automatic`: the carrier's own ban of a loud stranger.
   */
  readonly by: "operator" | "automatic"
  readonly reason: string
  readonly createdAt: number
  /** Null for a ban that lasts until it is removed. */
  readonly expiresAt: number | null
}

/** A stranger that was loud recently. */
interface LoudStranger {
  /** An IPv4 address, or an IPv6 network of 64 bits. */
  readonly source: string
  /** The messages in the last whole interval and in this one. */
  readonly messages: number
}

/** The edge of one carrier towards strangers. */
interface Edge {
  /** Replaces the operator's bans by these. */
  readonly take: (bans: ReadonlyArray<Ban>) => void
  /** The automatic bans in force. */
  readonly automatic: () => ReadonlyArray<Ban>
  /** Removes its automatic bans within the network and returns their number. */
  readonly lift: (network: string) => number
  /** The strangers, the loudest first. */
  readonly loudest: () => ReadonlyArray<LoudStranger>
}

/** The edges of all carriers, as one. Bans take effect at once, and an edge that is added later gets them, too. */
export class IngressBans extends Context.Service<
  IngressBans,
  {
    readonly register: (edge: Edge) => Effect.Effect<void, never, Scope.Scope>
    readonly take: Edge["take"]
    readonly automatic: Edge["automatic"]
    readonly lift: Edge["lift"]
    readonly loudest: Edge["loudest"]
  }
>()("trunkline/carrier/IngressBans") {
  static readonly layer = Layer.sync(IngressBans, () => {
    const edges = new Set<Edge>()
    let bans: ReadonlyArray<Ban> = []
    return IngressBans.of({
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
