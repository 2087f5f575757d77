import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChannelOptions, createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import type { RunningStack } from "./stack-fixture.js";

/** A client of a stack, and a folder without configuration for programs that use the stack. */
export interface StackClient {
  readonly client: FlyteClient;
  readonly folder: string;
  /** Closes the client, deletes the folder and stops the stack. */
  readonly close: () => Promise<void>;
}

/** @param access credentials that the client sends with each call to a stack with authentication */
export function connectToStack(stack: RunningStack, access: Pick<ChannelOptions, "metadata"> = {}): StackClient {
  const client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}`, ...access });
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-elsewhere-"));
  const end = async () => {
    client.close();
    rmSync(folder, { recursive: true, force: true });
    await stack.stop();
  };
  return { client, folder, close: end };
}
