import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createGunzip, createGzip } from "node:zlib";
import { forEachConcurrent, mapConcurrent, SingleFlight } from "@flyte-ts/async";
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  createKubeClient,
  isAlreadyExists,
  isNotFound,
  type KubeClient,
  type KubeObject,
  NAMESPACES,
} from "@flyte-ts/kubernetes";
import { FLYTE_WORKFLOW_CRD, FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import type { NamedCluster } from "./config.js";
import { BackupError } from "./manifest.js";

/** Maximum of concurrent requests. */
const CONCURRENCY = 16;
/** Workflows in memory before they are written. */
const BATCH = 64;
const CRD_SERVED_TIMEOUT_MS = 30_000;

/**
 * Metadata that the former server set, or that marks an object as being deleted. A restored object
 * must not have it.
 */
const SERVER_MANAGED_FIELDS = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "managedFields",
  "deletionTimestamp",
  "selfLink",
];

async function withClient<T>({ kubeconfig, context }: NamedCluster, work: (client: KubeClient) => Promise<T>): Promise<T> {
  const client = await createKubeClient({ kubeconfig, context });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/**
 * Writes each FlyteWorkflow of a data plane, with its status, as one line of JSON; returns their
 * number.
 */
export function exportWorkflows(cluster: NamedCluster, file: string): Promise<number> {
  return withClient(cluster, async (client) => {
    const { items } = await client.list(FLYTE_WORKFLOW_RESOURCE, { metadataOnly: true });
    let count = 0;
    const lines = async function* () {
      for (let from = 0; from < items.length; from += BATCH) {
        const found = await mapConcurrent(items.slice(from, from + BATCH), CONCURRENCY, ({ metadata: { namespace, name } }) =>
          client.get<KubeObject>(FLYTE_WORKFLOW_RESOURCE, { namespace, name }),
        );
        // A workflow deleted meanwhile is not restored.
        for (const workflow of found) {
          if (workflow === undefined) continue;
          count++;
          yield `${JSON.stringify(workflow)}\n`;
        }
      }
    };
    await pipeline(lines, createGzip(), createWriteStream(file));
    return count;
  });
}

/** Creates the FlyteWorkflows of a file. Existing ones are kept. */
export function importWorkflows(cluster: NamedCluster, file: string): Promise<{ readonly created: number; readonly existing: number }> {
  return withClient(cluster, async (client) => {
    await ensureDefinition(client);
    const namespaces = new SingleFlight<boolean>();
    const known = new Set<string>();
    const ensureNamespace = async (name: string) => {
      if (known.has(name)) return;
      await namespaces.run(name, () =>
        createUnlessExists(() => client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } })),
      );
      known.add(name);
    };
    const result = { created: 0, existing: 0 };
    await forEachConcurrent(readGzipLines(file), CONCURRENCY, async (line) => {
      const workflow = JSON.parse(line) as KubeObject;
      await ensureNamespace(workflow.metadata.namespace ?? "");
      const created = await createUnlessExists(() =>
        client.create(FLYTE_WORKFLOW_RESOURCE, stripServerFields(workflow), { metadataOnly: true }),
      );
      if (created) result.created++;
      else result.existing++;
    });
    return result;
  });
}

/** @throws BackupError naming the file. */
async function* readGzipLines(file: string): AsyncGenerator<string> {
  const text = createGunzip();
  // A failure of the pipeline also ends `text`, where the loop below reports it.
  pipeline(createReadStream(file), text).catch(() => undefined);
  try {
    yield* splitLines(text);
  } catch (cause) {
    throw new BackupError(`${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/**
 * Splits bytes at line feeds alone. Node's readline splits at U+2028 and U+2029 too, which JSON
 * may contain.
 */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield Buffer.concat([...rest, chunk.subarray(start, end)]).toString("utf8");
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString("utf8");
}

export function stripServerFields(workflow: KubeObject): KubeObject {
  const metadata = Object.fromEntries(Object.entries(workflow.metadata).filter(([key]) => !SERVER_MANAGED_FIELDS.includes(key)));
  return { ...workflow, metadata: metadata as unknown as KubeObject["metadata"] };
}

async function ensureDefinition(client: KubeClient): Promise<void> {
  await createUnlessExists(() => client.create(CUSTOM_RESOURCE_DEFINITIONS, FLYTE_WORKFLOW_CRD as KubeObject));
  // A new definition is served shortly after it was created.
  for (const deadline = Date.now() + CRD_SERVED_TIMEOUT_MS; ; await sleep(100)) {
    try {
      await client.list(FLYTE_WORKFLOW_RESOURCE, { maxItems: 1, metadataOnly: true });
      return;
    } catch (error) {
      if (!isNotFound(error) || Date.now() > deadline) throw error;
    }
  }
}

/** False when it existed. */
async function createUnlessExists(create: () => Promise<unknown>): Promise<boolean> {
  try {
    await create();
    return true;
  } catch (error) {
    if (isAlreadyExists(error)) return false;
    throw error;
  }
}
