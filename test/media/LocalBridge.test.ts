import { assert, describe, it } from "@effect/vitest"
import * as Frame from "../../src/media/Frame.ts"
import * as LocalBridge from "../../src/media/LocalBridge.ts"

describe("A bridge of two legs", () => {
  it("one end says what the other was given to hear, once", () => {
    const [a, b] = [LocalBridge.make(() => undefined), LocalBridge.make(() => undefined)]
    a.join(b)
    assert.isTrue(a.ready() && b.ready())
    const frame = Frame.make().fill(7)
    const heard = Frame.make()
    a.hear(frame, 0)
    b.say(heard, 10)
    assert.deepStrictEqual(heard, frame)
    b.say(heard, 30)
    assert.deepStrictEqual(heard, Frame.make())
  })

  it("closing one end leaves the other alone and silent", () => {
    const [a, b] = [LocalBridge.make(() => undefined), LocalBridge.make(() => undefined)]
    a.join(b)
    a.hear(Frame.make().fill(7), 0)
    a.close(10)
    const heard = Frame.make().fill(1)
    b.say(heard, 20)
    assert.deepStrictEqual(heard, Frame.make())
    assert.isFalse(b.ready())
  })
})
