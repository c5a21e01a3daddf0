import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * A short file that takes long begins first, so that the run does not wait for it at the end. Others begin by their
 * size.
 */
const long = "/test/crash/Fault"

export default class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const others = await super.sort(files)
    return others.toSorted((a, b) => Number(b.moduleId.includes(long)) - Number(a.moduleId.includes(long)))
  }
}
