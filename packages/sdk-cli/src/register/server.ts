import { createFlyteClient, type FlyteClient, RpcError } from "@flyte-ts/client";
import { callMetadata } from "../sign-in/call-metadata.js";
import { UsageError } from "../usage-error.js";

/** The server refused a part of the project. */
export class ServerError extends Error {
  override readonly name = "ServerError";
}

/** Opens a client of the API, with the token of the person or program that is signed in. */
export function connectTo(endpoint: string): FlyteClient {
  try {
    return createFlyteClient({ endpoint, metadata: callMetadata(endpoint) });
  } catch (cause) {
    throw new UsageError(`--endpoint: ${(cause as Error).message}`, { cause });
  }
}

/** Explains a refusal by naming what was sent. */
export function refusal(subject: string, error: unknown): unknown {
  return error instanceof RpcError ? new ServerError(`${subject}: ${error.message}`, { cause: error }) : error;
}
