import { Schema } from "effect"
import { Conferences, ConferenceStatus } from "../../../telephony/conference/Conference.ts"
import * as Id from "../../../domain/Id.ts"
import * as Command from "../command/Command.ts"
import * as Flag from "../command/Flag.ts"
import * as TenantReference from "../tenant/TenantReference.ts"

const conferenceId = Flag.argument("id", Id.spelled("conf"), "the conference")

export const commands = [
  Command.make("conference list", {
    summary: "lists the newest conferences of a tenant",
    input: {
      tenant: TenantReference.required,
      status: Flag.optional(ConferenceStatus, "only in this state"),
      name: Flag.optional(Schema.String, "only with this in their name", { value: "PART" }),
      limit: Flag.limit(50, 200)
    },
    columns: "id name status host_call_id max_participants created_at started_at ended_at",
    run: TenantReference.within((id, { limit, ...filters }) =>
      Conferences.use((conferences) => conferences.list(id, filters, { limit, offset: 0 }))
    )
  }),
  Command.make("conference show", {
    summary: "a conference with its participants",
    input: { conferenceId },
    run: ({ conferenceId: id }) => Conferences.use((conferences) => conferences.show(id))
  }),
  Command.make("conference end", {
    summary: "closes a conference and hangs up its members",
    input: { conferenceId },
    run: ({ conferenceId: id }) => Conferences.use((conferences) => conferences.endByOperator(id))
  })
]
