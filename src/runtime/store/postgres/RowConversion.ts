import * as PgTypes from "@effect/sql-pg/PgTypes"
import { Result } from "effect"
import * as Str from "effect/String"
import { Statement } from "effect/sql"

/** Postgres counts the microseconds of a time from 2000-01-01. */
const firstMicros = 946_684_800_000_000
const word = 2 ** 32

/** A `DataView` for each value would cost more than all of its reads. */
const int32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)
const uint32 = (bytes: Uint8Array, at: number): number => int32(bytes, at) >>> 0

/** An integer that a number would round is refused, because amounts of money are integers. */
const exact = (value: number): Result.Result<number, PgTypes.CodecError> =>
  Number.isInteger(value) && !Number.isSafeInteger(value)
    ? Result.fail(new PgTypes.CodecError({ message: `a number cannot hold ${value} exactly` }))
    : Result.succeed(value)

type Read = (bytes: Uint8Array, at: number, size: number) => Result.Result<number, PgTypes.CodecError>

const reading = (read: Read) => ({ read, decode: (bytes: Uint8Array) => read(bytes, 0, bytes.length) })

const int8: PgTypes.Codec<bigint | number> = {
  ...reading((bytes, at) => exact(int32(bytes, at) * word + uint32(bytes, at + 4))),
  encode: (value) => PgTypes.encode(BigInt(value), PgTypes.OID.int8),
  write: (sink, value) => PgTypes.writeParameter(sink, PgTypes.int8(BigInt(value)))
}

const numeric: PgTypes.Codec<string | number> = {
  ...reading((bytes, at, size) =>
    Result.flatMap(PgTypes.decode(bytes.subarray(at, at + size), PgTypes.OID.numeric, 1), (text) => exact(Number(text)))
  ),
  encode: (value) => PgTypes.encode(String(value), PgTypes.OID.numeric)
}

/**
 * The driver cuts off what is below a microsecond. With half a microsecond more it rounds, as it must: no number is
 * exactly 0.001, so a time that was read here would be written back as one microsecond less.
 */
const rounded = (value: Date | number): number => Number(value) + Math.sign(Number(value)) * 0.0005

const timestamptz: PgTypes.Codec<Date | number> = {
  ...reading((bytes, at) => {
    const high = int32(bytes, at)
    const low = uint32(bytes, at + 4)
    if (high === 0x7fffffff && low === 0xffffffff) return Result.succeed(Infinity)
    if (high === -0x80000000 && low === 0) return Result.succeed(-Infinity)
    return Result.succeed((high * word + low + firstMicros) / 1000)
  }),
  encode: (value) => PgTypes.encode(rounded(value), PgTypes.OID.timestamptz),
  write: (sink, value) => PgTypes.writeParameter(sink, PgTypes.timestamptz(rounded(value)))
}

const types = PgTypes.makeRegistry()
types.register(PgTypes.OID.int8, int8)
types.register(PgTypes.OID.numeric, numeric)
types.register(PgTypes.OID.timestamptz, timestamptz)

const fields = new Map<string, string>()

/**
 * The names are kept, because they are asked for with each value of each row. The columns of our own statements bound
 * their number.
 */
const fieldOf = (column: string): string => {
  const known = fields.get(column)
  if (known !== undefined) return known
  const field = Str.snakeToCamel(column)
  fields.set(column, field)
  return field
}

/**
 * How every client of the service converts rows. The column `created_at` is the field `createdAt`; the keys of JSON
 * values stay as they are. An `int8` and a `numeric` are numbers. A `timestamptz` is epoch milliseconds, with
 * microseconds as their fraction and "infinity" as `Infinity` (as a parameter: `store/Timestamptz.ts`).
 */
export const settings = { types, transformResultNames: fieldOf, transformJson: false } as const

export const transformRows = Statement.defaultTransforms(settings.transformResultNames, settings.transformJson).array
