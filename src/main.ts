import * as Bundle from "./app/boot/bundle/Bundle.ts"

// Node would open a debugger at the first and end at the second, also while the service is still loaded.
for (const signal of ["SIGUSR1", "SIGUSR2"] as const) process.on(signal, () => undefined)

/** The service, from its bundle where there is one. */
await import(Bundle.find(new URL("./app/composition/Program.ts", import.meta.url)).href)
