import type { FlyteClient } from "@flyte-ts/client";
import { type RunningStack, startStack } from "../stack/stack-fixture.js";
import { connectToStack } from "../stack/use-stack.js";
import { type TypeScriptProject, typeScriptProject } from "./project.js";

/** A stack with a client, and a copy of the project of the tests. */
export interface ProjectStack {
  readonly stack: RunningStack;
  readonly client: FlyteClient;
  /** Address of the API. */
  readonly endpoint: string;
  readonly project: TypeScriptProject;
  close(): Promise<void>;
}

export async function startProjectStack(): Promise<ProjectStack> {
  const stack = await startStack();
  const stackClient = connectToStack(stack);
  const endpoint = `localhost:${stack.api}`;
  const project = typeScriptProject(endpoint);
  return {
    stack,
    client: stackClient.client,
    endpoint,
    project,
    async close() {
      project.remove();
      await stackClient.close();
    },
  };
}
