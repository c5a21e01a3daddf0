import * as Wire from "../../../domain/schema/Wire.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text

/** A moment (`…At`) shows in RFC 3339, any other value as it is. */
type Value<Name, A> = Name extends `${string}At` ? (A extends number ? string : A) : A

/** The value as the operator reads it: these of its fields, separated by spaces, with their names in snake case. */
export const of = <A extends object, const Names extends string>(
  value: A,
  names: Names & (Words<Names> extends keyof A ? unknown : never)
) =>
  Object.fromEntries(
    names.split(" ").map((name) => {
      const field: unknown = value[name as keyof A]
      const isMoment = name.endsWith("At") && typeof field === "number"
      return [Wire.snake(name), isMoment ? Timestamp.format(field) : field]
    })
  ) as { readonly [N in Words<Names> & keyof A as Wire.Snake<N>]: Value<N, A[N]> }
