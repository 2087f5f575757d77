import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, isPortInUse, replaceFile } from "@flyte-ts/host";
import { z } from "zod";
import type { StackConfig } from "../stack-config.js";
import { StackError } from "../stack-error.js";
import type { StackPaths } from "./paths.js";
import { replicaNames } from "../service/service-configs.js";

const port = z.number().int().min(0).max(65_535);
const portsSchema = z.object({
  api: port,
  blobs: port,
  cluster: port,
  postgres: port,
  nats: port,
  catalog: port,
  /** Ports for health and metrics, by service. */
  ops: z.record(z.string(), port),
});

/** Ports of one stack; 0 for a part that the stack does not run. */
export type Ports = Readonly<z.infer<typeof portsSchema>>;

/** Services that the stack starts beside those of the control and data planes. */
const LOCAL_SERVICES = ["local-blobstore", "local-cluster", "node-runner"];

/**
 * Chooses the ports of a stack. Free choices are kept across restarts, so that recorded addresses
 * stay valid.
 *
 * @param services ids of the services of the control and data planes
 * @throws StackError when a configured port is in use
 */
export async function choosePorts(config: StackConfig, folders: StackPaths, services: readonly string[]): Promise<Ports> {
  const file = join(folders.config, "ports.json");
  const previous = readPorts(file);
  // Configured ports are reserved, whatever was chosen before.
  const taken = new Set([config.port, config.blobPort, config.clusterPort]);
  const free = async (before: number | undefined) => {
    let chosen = before;
    while (chosen === undefined || chosen === 0 || taken.has(chosen) || (await isPortInUse(chosen))) chosen = await freePort();
    taken.add(chosen);
    return chosen;
  };
  const fixed = async (requested: number, what: { flag: string; before: number | undefined }) => {
    if (requested === 0) return free(what.before);
    if (await isPortInUse(requested))
      throw new StackError(`port ${requested} is in use: stop what listens on it, or choose another with --${what.flag}`);
    return requested;
  };
  const api = await fixed(config.port, { flag: "port", before: previous.api });
  const blobs =
    config.s3 === undefined ? await fixed(config.blobPort, { flag: "blobPort", before: previous.blobs }) : (previous.blobs ?? 0);
  const cluster = await fixed(config.clusterPort, { flag: "clusterPort", before: previous.cluster });
  const ops: Record<string, number> = {};
  const replicas = services.flatMap((id) => replicaNames(id, config.propellers));
  for (const service of [...LOCAL_SERVICES, ...replicas]) ops[service] = await free(previous.ops?.[service]);
  const [postgres, nats, catalog] = [await free(previous.postgres), await free(previous.nats), await free(previous.catalog)];
  const ports = { api, blobs, cluster, postgres, nats, catalog, ops };
  replaceFile(file, JSON.stringify(ports, null, 2));
  return ports;
}

/** Ports of the last start; none at the first, or when the file cannot be read. */
function readPorts(file: string): Partial<Ports> {
  try {
    return portsSchema.partial().parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return {};
  }
}
