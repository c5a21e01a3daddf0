/** The resume values of legs, which only this carrier reads. */
import type { Dialog } from "../../../protocol/sip/dialog/Dialog.ts"
import * as DialogResume from "../../../protocol/sip/dialog/DialogResume.ts"
import type { Flow } from "../../../protocol/sip/Flow.ts"
import type { SipRequest } from "../../../protocol/sip/message/SipMessage.ts"
import type { Json } from "../../Carrier.ts"

const json = (value: DialogResume.DialogResume): Json => value

export const dialog = (dialog: Dialog, flow: Flow): Json => json(DialogResume.fromDialog(dialog, flow))

export const calling = (invite: SipRequest, flow: Flow): Json => json(DialogResume.calling(invite, flow))

export const ringing = (invite: SipRequest, localTag: string, flow: Flow): Json =>
  json(DialogResume.ringing(invite, localTag, flow))
