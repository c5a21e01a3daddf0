import { Effect, Option, Stream } from "effect"

/** A part of a long list, and the place after which the next part begins; null: it is the last. */
interface Portion<Part, Place> {
  readonly part: Part
  readonly next: Place | null
}

/**
 * All parts of a list, each of which is read when it is pulled. The first one is read at once, so that a failure comes
 * before the response has begun. The stream can be run once.
 */
export const stream = <Part, Place, E>(read: (after: Place | null) => Effect.Effect<Portion<Part, Place>, E>) =>
  Effect.map(read(null), (first): Stream.Stream<Part, E> => {
    const after = (place: Place) =>
      Effect.map(read(place), ({ next, part }) => [[part], Option.fromNullOr(next)] as const)
    return Stream.concat(
      Stream.succeed(first.part),
      first.next === null ? Stream.empty : Stream.paginate(first.next, after)
    )
  })
