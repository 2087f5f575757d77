import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Root of the repository, found in the parent folders of this file, whose depth differs between
 * module and bundle. Only valid in a checkout.
 */
export const repositoryRoot = findRepositoryRoot(dirname(fileURLToPath(import.meta.url)));

function findRepositoryRoot(dir: string): string {
  const found = existsSync(join(dir, "turbo.json")) || dirname(dir) === dir;
  return found ? dir : findRepositoryRoot(dirname(dir));
}

/** State folders of a stack's parts; removing `root` removes the stack. */
export interface StackPaths {
  readonly root: string;
  readonly postgres: string;
  readonly nats: string;
  readonly blobs: string;
  readonly cluster: string;
  /** Python environment of this stack alone, if it has one. */
  readonly python: string;
  /** Unpacked code of TypeScript tasks. */
  readonly bundles: string;
  readonly config: string;
  readonly logs: string;
  readonly kubeconfig: string;
  /** Configuration of the NATS server. */
  readonly busConfig: string;
  /** Keys and passwords of the stack's parts, readable by its owner alone. */
  readonly credentials: string;
  /** Plugin services that run beside the stack. */
  readonly externalPlugins: string;
  /** Settings of these plugin services, a file for each. */
  readonly pluginSettings: string;
  /** Settings for clients on this machine, in shell syntax. */
  readonly clientEnv: string;
  /** Holds the id of the process that runs the stack. */
  readonly pidFile: string;
}

export function stackPaths(dataDir: string): StackPaths {
  const root = resolve(dataDir);
  return {
    root,
    postgres: join(root, "postgres"),
    nats: join(root, "nats"),
    blobs: join(root, "blobs"),
    cluster: join(root, "cluster"),
    python: join(root, "python"),
    bundles: join(root, "bundles"),
    config: join(root, "config"),
    logs: join(root, "logs"),
    kubeconfig: join(root, "kubeconfig"),
    busConfig: join(root, "config", "nats.conf"),
    credentials: join(root, "credentials.json"),
    externalPlugins: join(root, "config", "external-plugins.json"),
    pluginSettings: join(root, "plugins"),
    clientEnv: join(root, "client.env"),
    pidFile: join(root, "stack.pid"),
  };
}
