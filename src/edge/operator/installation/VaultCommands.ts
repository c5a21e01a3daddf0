import { asFields, type Command } from "../command/Command.ts"

export const commands: ReadonlyArray<Command> = [
  {
    words: "vault rotate",
    does: "changes the key of the vault: seals every secret again under a new key (takes a minute at least)",
    positionals: [],
    options: {},
    usage: "",
    operation: "vault/rotate",
    body: () => ({}),
    print: (answer: { readonly key: string }) =>
      `${asFields(answer)}\n${
        answer.key === "SECRET_KEY"
          ? "SECRET_KEY_PREVIOUS is not needed any more."
          : "Copy vault.key to wherever a standby or a backup has one."
      }`
  }
]
