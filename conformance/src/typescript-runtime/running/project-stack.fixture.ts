import type { FlyteClient } from "@flyte-ts/client";
import { type RunningStack, startStack } from "../../stack/stack-fixture.js";
import { connectToStack } from "../../stack/use-stack.js";

/** A stack with a client, on which projects of TypeScript are registered. */
export interface ProjectStack {
  readonly stack: RunningStack;
  readonly client: FlyteClient;
  /** Address of the API. */
  readonly endpoint: string;
  close(): Promise<void>;
}

export async function startProjectStack(): Promise<ProjectStack> {
  const stack = await startStack();
  const { client, close } = connectToStack(stack);
  return { stack, client, endpoint: `localhost:${stack.api}`, close };
}
