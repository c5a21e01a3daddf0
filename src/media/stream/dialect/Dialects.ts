import type * as StreamMessages from "../../../ports/media/StreamMessages.ts"
import type { StreamDialect } from "./StreamDialect.ts"
import * as TelnyxDialect from "./TelnyxDialect.ts"
import * as TwilioDialect from "./TwilioDialect.ts"

export const dialects: Readonly<Record<StreamMessages.Protocol, StreamDialect>> = {
  telnyx: TelnyxDialect.dialect,
  twilio: TwilioDialect.dialect
}
