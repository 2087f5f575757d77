import { Code, RpcError } from "@flyte-ts/rpc";

interface Metadata {
  get(name: string): string | undefined;
}

/**
 * Token of a call: an access token, or the ID token that a gateway obtained for a browser.
 */
export interface PresentedToken {
  readonly scheme: "bearer" | "id";
  readonly token: string;
}

/**
 * Reads the token from the configured key, else from `authorization`. Undefined when there is none.
 *
 * @throws RpcError UNAUTHENTICATED when the value is malformed.
 */
export function tokenFromMetadata(metadata: Metadata, headerKey: string): PresentedToken | undefined {
  const value = metadata.get(headerKey) ?? metadata.get("authorization");
  if (value === undefined || value.trim() === "") return undefined;
  const [, scheme = "", token] = /^(bearer|idtoken) +([A-Za-z0-9\-._~+/]+=*)$/i.exec(value.trim()) ?? [];
  if (token === undefined) throw new RpcError(Code.UNAUTHENTICATED, "the authorization header must have the form: Bearer TOKEN");
  return { scheme: scheme.toLowerCase() === "idtoken" ? "id" : "bearer", token };
}
