import { escaped, type Page, sourceHash } from "../answer/StaticPage.ts"

interface Input {
  /** The field's name in the request. */
  readonly name: string
  readonly label: string
  readonly type: "text" | "email" | "password"
  readonly autocomplete: string
  readonly minimum: number
  readonly maximum: number
}

/** An offer that is taken by a tick. */
interface Choice {
  /** The field's name in the request, a boolean. */
  readonly name: string
  readonly label: string
}

/** A page that a link in a letter opens, with the token after `#`. */
export interface LinkPage {
  readonly title: string
  readonly intro: string
  readonly inputs: ReadonlyArray<Input>
  readonly choices?: ReadonlyArray<Choice>
  readonly button: string
  /** The endpoint that the button calls, relative to this page: `v1/…`. */
  readonly posts: string
  /** The name of the token in the request; `token` unless given. */
  readonly tokenName?: string
  readonly done: string
  /** A field of the answer that the page shows after `done`, because no later answer has it. */
  readonly shows?: string
}

const style = `body{margin:0;font:16px/1.5 system-ui,sans-serif;color:#222;background:#f4f5f7}
main{max-width:26em;margin:10vh auto;padding:2em;background:#fff;border-radius:8px}
h1{margin:0 0 .5em;font-size:1.4em}
label{display:block;margin:1em 0 .3em}
input{box-sizing:border-box;width:100%;padding:.6em;font:inherit;border:1px solid #888;border-radius:4px}
input[type=checkbox]{width:auto;margin-right:.5em}
button{margin-top:1.5em;padding:.7em 1.4em;font:inherit;color:#fff;background:#1a4f8b;border:0;border-radius:4px}
button:disabled{opacity:.5}
[role=status]{margin:1em 0 0;overflow-wrap:anywhere}`

/** Foreign text (an error's message) is inserted as text only. Opening the page sends no request; its button does. */
const script = `const form = document.forms[0], status = document.querySelector("[role=status]"), button = form.elements.ask
const token = location.hash.slice(1)
if (token === "") {
  button.disabled = true
  status.textContent = "This link is incomplete: open it as it stands in the mail."
}
form.addEventListener("submit", async (event) => {
  event.preventDefault()
  button.disabled = true
  status.textContent = "One moment…"
  const body = { [form.dataset.token]: token }
  for (const input of form.querySelectorAll("input")) body[input.name] = input.type === "checkbox" ? input.checked : input.value
  try {
    const answer = await fetch(form.dataset.posts, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    if (answer.ok) {
      history.replaceState(null, "", location.pathname)
      for (const input of form.querySelectorAll("input, label, button")) input.remove()
      const shown = form.dataset.shows === "" ? "" : " " + (await answer.json())[form.dataset.shows]
      status.textContent = form.dataset.done + shown
      return
    }
    const { error } = await answer.json()
    status.textContent = error.message
  } catch {
    status.textContent = "The service cannot be reached; try again."
  }
  button.disabled = false
})`

const inputOf = ({ autocomplete, label, maximum, minimum, name, type }: Input): string =>
  `<label for="${name}">${escaped(label)}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" minlength="${minimum}" maxlength="${maximum}" required>`

const choiceOf = ({ label, name }: Choice): string =>
  `<label><input name="${name}" type="checkbox">${escaped(label)}</label>`

/**
 * The page is the same for everybody, loads nothing, and contacts only this service. The token follows `#`, so no
 * server, log or referrer sees it until the button sends it. `base` is the path under which clients reach the API.
 */
export const of = (
  { button, choices = [], done, inputs, intro, posts, shows = "", title, tokenName = "token" }: LinkPage,
  base: string
): Page => ({
  text: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>${escaped(title)}</title><style>${style}</style></head>
<body><main><h1>${escaped(title)}</h1><p>${escaped(intro)}</p>
<form data-posts="${escaped(posts)}" data-done="${escaped(done)}" data-token="${tokenName}" data-shows="${shows}">
${[...inputs.map(inputOf), ...choices.map(choiceOf)].join("\n")}
<button name="ask">${escaped(button)}</button>
</form><p role="status"></p>
<noscript><p>This page needs JavaScript. Without it, send what follows the # of its address as "${tokenName}" to POST ${escaped(`${base}/${posts}`)}.</p></noscript>
</main><script>${script}</script></body></html>
`,
  contentType: "text/html; charset=utf-8",
  policy: [`script-src ${sourceHash(script)}`, `style-src ${sourceHash(style)}`, "connect-src 'self'"]
})
