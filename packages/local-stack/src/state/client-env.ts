import { rmSync, writeFileSync } from "node:fs";
import type { StackBlobStore } from "../service/blob-store.js";
import type { StackCluster } from "../service/cluster.js";
import { displayAddress } from "./display-address.js";
import type { Endpoints } from "../service/service-configs.js";
import { flytekitEnv, type StackSignIn } from "../service/sign-in.js";

/** Addresses and keys of a stack for its clients. */
export interface ClientTargets {
  readonly endpoints: Pick<Endpoints, "host" | "api">;
  readonly cluster: Pick<StackCluster, "kubeconfig">;
  readonly blobs: StackBlobStore;
  readonly signIn: StackSignIn | undefined;
}

/**
 * Writes the settings of flytekit, kubectl and S3 clients for the stack, as a file for a shell
 * (`. FILE`); readable by its owner alone.
 */
export function writeClientEnv(file: string, facts: ClientTargets): void {
  const lines = Object.entries(clientEnv(facts)).map(([name, value]) => `export ${name}=${shellQuote(value)}\n`);
  // Writing to an existing file would keep its mode.
  rmSync(file, { force: true });
  writeFileSync(file, lines.join(""), { mode: 0o600 });
}

function clientEnv({ endpoints, cluster, blobs, signIn }: ClientTargets): Readonly<Record<string, string>> {
  return {
    FLYTE_PLATFORM_URL: `${displayAddress(endpoints.host)}:${endpoints.api}`,
    FLYTE_PLATFORM_INSECURE: "true",
    ...(signIn && flytekitEnv(signIn)),
    FLYTE_AWS_ENDPOINT: blobs.endpoint,
    FLYTE_AWS_ACCESS_KEY_ID: blobs.accessKeyId,
    FLYTE_AWS_SECRET_ACCESS_KEY: blobs.secretAccessKey,
    KUBECONFIG: cluster.kubeconfig,
  };
}

/** Quotes a text as a word of the shell. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
