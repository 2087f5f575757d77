import type { IncomingMessage, ServerResponse } from "node:http";
import type { Provider } from "oidc-provider";
import { consentPage, loginPage, PAGE_HEADERS, page } from "./pages.js";
import { grantAll } from "./provider.js";
import type { CheckPassword } from "./password-check.js";
import type { SourceOf } from "./request-source.js";

export interface SignInOptions {
  readonly provider: () => Provider;
  readonly check: CheckPassword;
  readonly sourceOf: SourceOf;
  readonly prepare: (request: IncomingMessage) => void;
}

const MAX_FORM_BYTES = 8_192;

/** Shows the login form, checks name and password, and passes the result to the pending login. */
export function signInRoute({
  provider,
  check,
  sourceOf,
  prepare,
}: SignInOptions): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    prepare(request);
    const waiting = await provider()
      .interactionDetails(request, response)
      .catch(() => undefined);
    const clientId = waiting?.params.client_id;
    const client = typeof clientId === "string" ? clientId : "";
    if (waiting?.prompt.name === "consent" && waiting.session !== undefined) {
      const { accountId } = waiting.session;
      if (request.method !== "POST" && waiting.lastSubmission?.login === undefined) {
        show(response, 200, consentPage({ client, name: accountId }));
        return;
      }
      const { jti } = await grantAll(provider(), { known: waiting.grantId, clientId: client, accountId });
      await provider().interactionFinished(request, response, { consent: { grantId: jti } }, { mergeWithLastSubmission: true });
      return;
    }
    if (waiting?.prompt.name !== "login") {
      show(response, 400, page("Sign-in", "<p>This sign-in has expired, or was started in another browser. Start again.</p>"));
      return;
    }
    if (request.method !== "POST") {
      show(response, 200, loginPage({ client, wrong: "" }));
      return;
    }
    const form = await readForm(request);
    const name = form?.get("name") ?? "";
    const answer = form === undefined ? "wrong" : await check({ name, password: form.get("password") ?? "", source: sourceOf(request) });
    switch (answer) {
      case "right":
        await provider().interactionFinished(request, response, { login: { accountId: name } });
        return;
      case "wrong":
        show(response, 403, loginPage({ client, wrong: "Name or password is wrong." }));
        return;
      case "too-often":
        show(response, 429, loginPage({ client, wrong: "Too many attempts. Try again in a few minutes." }));
    }
  };
}

function show(response: ServerResponse, status: number, html: string): void {
  response.writeHead(status, { ...PAGE_HEADERS }).end(html);
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_FORM_BYTES) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}
