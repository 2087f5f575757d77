import { Code, RpcError } from "@flyte-ts/rpc";

interface Metadata {
  get(name: string): string | undefined;
}

/**
 * The bearer token of a call: from the configured key when it is there, else from `authorization`. Undefined when there is none.
 *
 * @throws RpcError UNAUTHENTICATED when what is there is no bearer token.
 */
export function readToken(metadata: Metadata, headerKey: string): string | undefined {
  const value = metadata.get(headerKey) ?? metadata.get("authorization");
  if (value === undefined || value.trim() === "") return undefined;
  const token = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(value.trim())?.[1];
  if (token === undefined) throw new RpcError(Code.UNAUTHENTICATED, "the authorization must be: Bearer, a space, and the token");
  return token;
}
