import type * as TcpProxy from "../../support/network/TcpProxy.ts"
import * as Database from "./peer/Database.ts"
import * as LargeCommits from "./LargeCommits.ts"
import type { PostgresServer } from "./peer/PostgresServer.ts"
import type { World } from "./World.ts"

/** The parts that faults act on. */
export interface Stage {
  readonly world: World
  /** The network between the service and its database. */
  readonly network: TcpProxy.TcpProxy
  readonly postgres: PostgresServer
  readonly random: () => number
  /** The number of calls in the largest batch. */
  readonly largeCalls: number
}

/** A fault through which the service lives. */
export interface Fault {
  readonly name: string
  /** Whether nothing can be stored while it lasts. */
  readonly stopsWrites: boolean
  /** Brings it about, and gives the function that ends it. */
  readonly start: (stage: Stage) => Promise<() => Promise<void>>
}

const nothing = async (): Promise<void> => {}

/** Loses answers at random, to COMMITs and to the statement of a batch, whether or not these arrive. */
const loseAnswers = async ({ network, random }: Stage): Promise<() => Promise<void>> => {
  const timer = setInterval(() => {
    network.lose({
      text: random() < 0.5 ? "COMMIT" : "INSERT INTO journal ",
      arrives: random() < 0.7,
      by: random() < 0.9 ? "cut" : "silence"
    })
  }, 150)
  return async () => {
    clearInterval(timer)
    network.lose(null)
  }
}

const holdBack =
  (what: "everything" | "answers") =>
  async ({ network }: Stage): Promise<() => Promise<void>> => {
    network.hold(what)
    return async () => network.restore()
  }

const cut = async ({ network }: Stage): Promise<() => Promise<void>> => {
  network.cut()
  return async () => network.restore()
}

/** A disk for rows: the body of a function holds whether it has space. */
const disk = (isFull: boolean) => `
CREATE OR REPLACE FUNCTION has_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  ${isFull ? `RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';` : ""}
  RETURN NEW;
END $$`

const fillDisk = async ({ world }: Stage): Promise<() => Promise<void>> => {
  await world.database().query(disk(true))
  return async () => void (await world.database().query(disk(false)))
}

/**
 * Makes a database ready for these faults: every table gets its rows from a disk that may be full. Each table is a
 * transaction of its own, because one that waited for a table while it held others would deadlock with the service.
 */
export const prepare = async (database: Database.Database): Promise<void> => {
  await database.query(disk(false))
  const tables = await database.query<{ readonly name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = current_schema()"
  )
  for (const { name } of tables)
    await database.query(
      `CREATE TRIGGER has_room BEFORE INSERT OR UPDATE ON ${name} FOR EACH ROW EXECUTE FUNCTION has_room()`
    )
}

export const faults: ReadonlyArray<Fault> = [
  { name: "answers to commits are lost", stopsWrites: false, start: loseAnswers },
  { name: "connections are silent", stopsWrites: true, start: holdBack("everything") },
  { name: "answers come late", stopsWrites: true, start: holdBack("answers") },
  { name: "the network is cut", stopsWrites: true, start: cut },
  {
    name: "the connection of the lock breaks",
    stopsWrites: false,
    start: async ({ world }) => {
      await Database.dropLock(world.database())
      return nothing
    }
  },
  { name: "the disk is full", stopsWrites: true, start: fillDisk },
  { name: "Postgres restarts", stopsWrites: true, start: ({ postgres }) => postgres.stop() },
  {
    name: "a batch is as large as tenants can make it",
    stopsWrites: false,
    start: ({ largeCalls, world }) => LargeCommits.start(world, largeCalls)
  }
]
