import type { KoaContextWithOIDC } from "oidc-provider";

/** What is used of an exchange, which has `oidc` once a route of the issuer is found. */
export type Exchange = Pick<KoaContextWithOIDC, "response" | "status" | "set" | "remove"> & {
  readonly oidc?: { readonly session?: unknown };
};

const CORS_HEADER = /^access-control-/;

/**
 * Runs the issuer's own handlers, and mends what they answer. oidc-provider lets pages of any origin read its answers
 * (`Access-Control-Allow-Origin: *`): the server before it decides that, so its headers stand and those of the library go. A form
 * that comes without a session is answered with the page that refuses it: the library fails when it keeps the session that it has
 * made meanwhile.
 */
export async function answerSafely(ctx: Exchange, next: () => Promise<void>): Promise<void> {
  const granted = corsHeaders(ctx);
  try {
    await next();
  } catch (error) {
    if (!hasRefused(ctx)) throw error;
  } finally {
    for (const name of Object.keys(corsHeaders(ctx))) ctx.remove(name);
    ctx.set(granted);
  }
}

function corsHeaders({ response }: Exchange): Record<string, string | string[]> {
  const headers = Object.entries(response.headers).filter(([name]) => CORS_HEADER.test(name));
  return Object.fromEntries(headers.map(([name, value]) => [name, Array.isArray(value) ? value : String(value)]));
}

/** Whether the answer is a refusal, and its session is new: there was none to which the form could belong. */
function hasRefused({ oidc, status }: Exchange): boolean {
  const session = oidc?.session as { readonly new?: boolean } | undefined;
  return session?.new === true && status >= 400 && status < 500;
}
