import type * as Stream from "../../../ports/media/Stream.ts"
import type { Dialect } from "./Dialect.ts"
import * as TelnyxDialect from "./TelnyxDialect.ts"
import * as TwilioDialect from "./TwilioDialect.ts"

export const dialects: Readonly<Record<Stream.Protocol, Dialect>> = {
  telnyx: TelnyxDialect.dialect,
  twilio: TwilioDialect.dialect
}
