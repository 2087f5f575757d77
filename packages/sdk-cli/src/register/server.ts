import { createFlyteClient, type FlyteClient, RpcError } from "@flyte-ts/client";
import { UsageError } from "../usage-error.js";

/** The server refused a part of the project. */
export class ServerError extends Error {
  override readonly name = "ServerError";
}

/** Opens a client of the API; FLYTE_TS_TOKEN holds the token, where the server requires one. */
export function connectTo(endpoint: string): FlyteClient {
  const token = process.env["FLYTE_TS_TOKEN"];
  try {
    return createFlyteClient({ endpoint, ...(token !== undefined && { metadata: () => ({ authorization: `Bearer ${token}` }) }) });
  } catch (cause) {
    throw new UsageError(`--endpoint: ${(cause as Error).message}`, { cause });
  }
}

/** Explains a refusal by naming what was sent. */
export function refusal(subject: string, error: unknown): unknown {
  return error instanceof RpcError ? new ServerError(`${subject}: ${error.message}`, { cause: error }) : error;
}
