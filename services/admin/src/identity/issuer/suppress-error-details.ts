import type { KoaContextWithOIDC } from "oidc-provider";

/** The used part of an exchange, which has `oidc` once a route of the issuer matches. */
export type Exchange = Pick<KoaContextWithOIDC, "response" | "status" | "set" | "remove"> & {
  readonly oidc?: { readonly session?: unknown };
};

const CORS_HEADER = /^access-control-/;

/**
 * Runs the issuer's handlers and corrects their responses. oidc-provider lets pages of any origin
 * read its responses (`Access-Control-Allow-Origin: *`): admin's server decides that, so its
 * headers stay and the library's are removed. A form without a session gets the error page: the
 * library throws when it saves the session that it created meanwhile.
 */
export async function suppressErrorDetails(ctx: Exchange, next: () => Promise<void>): Promise<void> {
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

/** True when the response is an error and its session is new: the form belonged to no session. */
function hasRefused({ oidc, status }: Exchange): boolean {
  const session = oidc?.session as { readonly new?: boolean } | undefined;
  return session?.new === true && status >= 400 && status < 500;
}
