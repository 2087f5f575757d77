import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { loadConfig } from "@flyte-ts/config";
import { createLogger } from "@flyte-ts/telemetry";
import { backupConfigSchema, clustersOf, databasesOf, restoreConfigSchema } from "./config.js";
import { dumpDatabase, restoreDatabase } from "./databases.js";
import { BackupError, type Manifest, readManifest, writeManifest } from "./manifest.js";
import { importWorkflows, exportWorkflows } from "./workflows.js";

type Write = (text: string) => void;

const NOTHING_NAMED =
  "nothing to process; name at least one of --databases.admin, --databases.datacatalog, --databases.scheduler, --kubeconfig, --clusters\n";
const logger = () => createLogger({ service: "backup", level: "silent" });

/**
 * `flyte-ts backup`: saves databases first, then the resources of the data planes, so that
 * resources are never older than their rows. All services may keep running. Resolves to the exit
 * status.
 */
export async function backupCommand(argv: readonly string[], write: Write): Promise<number> {
  const config = loadConfig(backupConfigSchema, { service: "backup", argv, env: process.env });
  const [databases, clusters] = [databasesOf(config), clustersOf(config)];
  if (databases.length + clusters.length === 0) {
    write(NOTHING_NAMED);
    return 2;
  }
  if (existsSync(config.to)) throw new BackupError(`${config.to} exists already; name a new folder for the backup`);
  const to = resolve(config.to);
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  // Rename the folder when the backup is complete. Only its owner may read it, because rows hold
  // users' data and the issuer's keys.
  const folder = mkdtempSync(`${to}.incomplete-`);
  try {
    await writeBackup(folder, { databases, clusters, write });
    renameSync(folder, to);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return 0;
}

interface Contents {
  readonly databases: ReturnType<typeof databasesOf>;
  readonly clusters: ReturnType<typeof clustersOf>;
  readonly write: Write;
}

async function writeBackup(dir: string, { databases, clusters, write }: Contents): Promise<void> {
  const startedAt = new Date().toISOString();
  const manifest: Manifest = { format: 1, begunAt: startedAt, endedAt: startedAt, databases: [], clusters: [] };
  for (const { name, url } of databases) {
    const file = `${name}.dump`;
    await dumpDatabase({ name, url, file: join(dir, file), logger: logger() });
    manifest.databases.push({ name, file });
    write(`database ${name}: ${file}\n`);
  }
  for (const cluster of clusters) {
    const file = `workflows-${cluster.name}.jsonl.gz`;
    const workflows = await exportWorkflows(cluster, join(dir, file));
    manifest.clusters.push({ name: cluster.name, file, workflows });
    write(`data plane ${cluster.name}: ${workflows} FlyteWorkflows, ${file}\n`);
  }
  writeManifest(dir, { ...manifest, endedAt: new Date().toISOString() });
}

/**
 * `flyte-ts restore`: restores the named parts of a backup, to empty databases and to data planes
 * whose services do not run yet.
 */
export async function restoreCommand(argv: readonly string[], write: Write): Promise<number> {
  const config = loadConfig(restoreConfigSchema, { service: "restore", argv, env: process.env });
  const [databases, clusters] = [databasesOf(config), clustersOf(config)];
  if (databases.length + clusters.length === 0) {
    write(NOTHING_NAMED);
    return 2;
  }
  const manifest = readManifest(config.from);
  const fileOf = (kind: "databases" | "clusters", name: string) => {
    const file = manifest[kind].find((entry) => entry.name === name)?.file;
    if (file === undefined)
      throw new BackupError(`${config.from} holds no backup of ${kind === "databases" ? "database" : "data plane"} ${name}`);
    return join(config.from, file);
  };
  // Check that the backup holds every named part before anything is changed.
  for (const { name } of databases) fileOf("databases", name);
  for (const { name } of clusters) fileOf("clusters", name);
  for (const { name, url } of databases) {
    await restoreDatabase({ name, url, file: fileOf("databases", name), logger: logger() });
    write(`database ${name}: as of ${manifest.begunAt}\n`);
  }
  for (const cluster of clusters) {
    const { created, existing } = await importWorkflows(cluster, fileOf("clusters", cluster.name));
    write(`data plane ${cluster.name}: ${created} FlyteWorkflows created${existing === 0 ? "" : `, ${existing} existed already`}\n`);
  }
  return 0;
}
