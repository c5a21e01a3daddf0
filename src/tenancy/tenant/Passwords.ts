import { Context, Effect, Layer } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as FairSemaphore from "../../domain/fair/FairSemaphore.ts"
import * as Policies from "../../domain/fair/Policies.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as IpAddress from "../../domain/network/IpAddress.ts"
import * as Password from "./Password.ts"

const crowded = ApiError.of("service_unavailable", "too many passwords are being looked at; try again")

/** Hashes and compares people's passwords, a few at once, in turns of the callers' sites. */
export class Passwords extends Context.Service<
  Passwords,
  {
    /** Runs `first` when it is this address's turn, and hashes when that succeeds. */
    readonly hash: <E, R>(
      password: string,
      ip: string | null,
      first: Effect.Effect<unknown, E, R>
    ) => Effect.Effect<string, ApiError | E, R>
    /** Whether it is the password of `stored`. Null: there is no such member, and the check takes as long. */
    readonly matches: (password: string, stored: string | null, ip: string | null) => Effect.Effect<boolean, ApiError>
  }
>()("trunkline/tenant/Passwords") {
  static readonly layer = Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const entropy = yield* Entropy
      const hashing = yield* Password.Hashing
      const places = FairSemaphore.make({ ...Policies.passwords, places: hashing.places })
      const inTurn =
        (ip: string | null) =>
        <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          effect.pipe(
            Effect.provideService(Password.Hashing, hashing),
            places.within(IpAddress.site(ip)),
            Effect.catchTag("NoCapacity", () => Effect.fail(crowded)),
            Effect.interruptible
          )
      return Passwords.of({
        hash: (password, ip, first) =>
          inTurn(ip)(
            Effect.andThen(
              first,
              Effect.suspend(() => Password.hash(password, entropy.bytes(16)))
            )
          ),
        matches: (password, stored, ip) => inTurn(ip)(Password.matches(password, stored ?? Password.nobodys))
      })
    })
  )
}
