/**
 * The entry of `trunkline/testing`. It is JavaScript and imports nothing at once, so that a Node which cannot read the
 * sources can still say which Node is needed.
 */
const neededMajor = 24

if (Number.parseInt(process.versions.node, 10) < neededMajor)
  throw new Error(
    `trunkline/testing needs Node ${neededMajor} or later, and this is Node ${process.versions.node}: ` +
      `run the tests with Node ${neededMajor}, for example with node_modules/.bin/node of the folder of trunkline`
  )

const kit = await import("./Trunkline.ts")

export const { ApiFailure, Trunkline, spoken, textIn } = kit
