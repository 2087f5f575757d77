import { Code, RpcError } from "@flyte-ts/rpc";
import type { EndpointConfig } from "./endpoint-config.js";

export type ReadText = (path: string) => Promise<string>;

/**
 * Metadata of one call: constant headers, headers from files, and a token. Files are read each
 * time, so that a renewed token is used at once.
 *
 * @throws RpcError UNAUTHENTICATED when a file cannot be read. It names the header, never a value.
 */
export async function requestHeaders(
  { headers, headerFiles, tokenFile }: Pick<EndpointConfig, "headers" | "headerFiles" | "tokenFile">,
  readText: ReadText,
): Promise<Record<string, string>> {
  const fromFiles = await Promise.all(
    Object.entries(headerFiles).map(async ([name, path]) => [name, await readValue(name, path, readText)] as const),
  );
  const token = tokenFile === undefined ? undefined : await readValue("authorization", tokenFile, readText);
  return {
    ...headers,
    ...Object.fromEntries(fromFiles),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}

async function readValue(header: string, path: string, readText: ReadText): Promise<string> {
  try {
    return (await readText(path)).trim();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "error";
    throw new RpcError(Code.UNAUTHENTICATED, `the file ${path} of the header ${header} cannot be read: ${code}`, { cause, notSent: true });
  }
}
