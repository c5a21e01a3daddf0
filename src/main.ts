import * as Bundle from "./app/boot/bundle/Bundle.ts"

/** The service, from its bundle where there is one. */
await import(Bundle.find(new URL("./app/composition/Program.ts", import.meta.url)).href)
