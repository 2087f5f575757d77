import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BlobStore, createBlobStore } from "@flyte-ts/blobstore";
import type { Database } from "@flyte-ts/postgres";
import { createLogger, Metrics } from "@flyte-ts/telemetry";
import { type AdminConfig, adminConfigSchema } from "../../config.js";
import type { DeletionDeps } from "./deletion/claimed-deletion.js";
import { retentionMetrics } from "./deletion/metrics.js";
import { metadataPaths, rawOutputFolders } from "./deletion/storage-paths.js";

/** An execution to create. */
export interface Made {
  readonly name: string;
  readonly project?: string;
  readonly domain?: string;
  readonly workflow?: string;
  readonly phase?: string;
  readonly parent?: bigint | undefined;
  readonly recovers?: bigint | undefined;
  readonly settled?: boolean;
  /** Seconds since its last change. */
  readonly age?: number;
  /** The outputs of the execution's node were cached. */
  readonly cached?: boolean;
}

/** Location of blobs. */
export interface Place {
  readonly blobs: BlobStore;
  /** URI of a bucket or a folder. */
  readonly container: string;
}

/** Creates executions with real rows and blobs, by default in a new folder. */
export class KeptExecutions {
  readonly #folder = mkdtempSync(join(tmpdir(), "flyte-ts-retention-"));
  readonly config: AdminConfig;
  readonly blobs: BlobStore;
  readonly #metrics = new Metrics();
  now = new Date("2030-01-01T00:00:00Z");

  constructor(
    readonly db: Database,
    retention: object = {},
    place?: Place,
  ) {
    this.blobs = place?.blobs ?? createBlobStore({});
    const container = place?.container ?? `file://${this.#folder}`;
    const storage = { container, rawOutputPrefix: `${container}/data` };
    this.config = adminConfigSchema.parse({ storage, retention: { blobsPerSecond: 1e9, ...retention } });
  }

  deps(changes: Partial<DeletionDeps> = {}): DeletionDeps {
    return {
      db: this.db,
      clusters: [],
      blobs: this.blobs,
      config: this.config,
      clock: () => this.now,
      logger: createLogger({ service: "test", level: "silent" }),
      metrics: (this.#carry ??= retentionMetrics(this.#metrics, this.db)),
      random: () => 1,
      sleep: async () => undefined,
      ...changes,
    };
  }
  #carry: DeletionDeps["metrics"] | undefined;

  /**
   * Creates an execution with one node, one attempt and its event; blobs of its metadata and
   * outputs.
   */
  async make(made: Made, withBlobs = true): Promise<bigint> {
    const {
      name,
      project = "p",
      domain = "development",
      workflow = "w",
      phase = "SUCCEEDED",
      settled = true,
      age = 0,
      cached = false,
    } = made;
    const at = (BigInt(this.now.getTime()) - BigInt(Math.round(age * 1_000))) * 1_000_000n;
    const { rows } = await this.db.query<{ id: bigint }>({
      name: "make-kept",
      text: `INSERT INTO executions (execution_project, execution_domain, execution_name, workflow_id, workflow_name, launch_entity, mode, spec, launch,
          state_changed_ns, phase, accepted_ns, updated_ns, settled_at, parent_execution_id, parent_node_id, source_execution_id)
        VALUES ($1, $2, $3, 1, $4, 'launch_plan', $5, '', '{}', 1, $6, $7, $7, $8, $9, CASE WHEN $9::bigint IS NULL THEN NULL ELSE 'n0' END, $10) RETURNING id`,
      values: [
        project,
        domain,
        name,
        workflow,
        made.recovers === undefined ? 0 : 5,
        phase,
        at,
        settled ? this.now : null,
        made.parent ?? null,
        made.recovers ?? made.parent ?? null,
      ],
    });
    const id = rows[0]?.id ?? 0n;
    await this.makeParts(id, cached);
    if (withBlobs) for (const uri of this.blobsOf({ project, domain, name })) await this.blobs.put(uri, new Uint8Array([1]));
    return id;
  }

  /** Creates one node, one attempt and its event. */
  async makeParts(id: bigint, cached = false): Promise<void> {
    await this.db.query({
      name: "make-kept-parts",
      text: `WITH node AS (INSERT INTO node_executions (execution_id, node_id, revision, phase, phase_order, first_ns, first_order, started_order, updated_ns,
            target_order, cache_status) VALUES ($1, 'n0', 1, 'SUCCEEDED', 1, 1, 1, 1, 1, 1, $2)),
          attempt AS (INSERT INTO task_executions (execution_id, node_id, project, domain, name, version, retry_attempt, revision, phase, phase_version,
            phase_order, first_ns, first_order, started_order, updated_ns)
            VALUES ($1, 'n0', 'p', 'development', 't', 'v', 0, 1, 'SUCCEEDED', 0, 1, 1, 1, 1, 1) RETURNING id)
        INSERT INTO task_execution_events (task_execution_id, event_order, event) SELECT id, 1, '' FROM attempt`,
      values: [id, cached ? "CACHE_POPULATED" : "CACHE_DISABLED"],
    });
  }

  blobsOf({ project = "p", domain = "development", name }: Pick<Made, "project" | "domain" | "name">): readonly string[] {
    return [...this.metadataOf({ project, domain, name }), ...this.rawOutputsOf(name)];
  }

  metadataOf({ project = "p", domain = "development", name }: Pick<Made, "project" | "domain" | "name">): readonly string[] {
    const { folder, inputs } = metadataPaths(this.blobs, this.config.storage, { project, domain, name });
    return [`${folder}n0/data/inputs.pb`, `${folder}n0/data/0/outputs.pb`, `${folder}status/1`, ...inputs.slice(0, 1)];
  }

  rawOutputsOf(name: string): readonly string[] {
    const folders = rawOutputFolders(this.config.storage.rawOutputPrefix, { execution: name, nodeId: "n0", attempt: 0, items: [] });
    return folders.flatMap((folder) => [`${folder}part-0`, `${folder}deep/part-1`]);
  }

  async exist(uris: readonly string[]): Promise<number> {
    const heads = await Promise.all(uris.map((uri) => this.blobs.head(uri)));
    return heads.filter((head) => head !== undefined).length;
  }

  async rows(): Promise<readonly bigint[]> {
    const { rows } = await this.db.query<{ id: bigint }>({ text: "SELECT id FROM executions ORDER BY id" });
    return rows.map(({ id }) => id);
  }

  /** Counts rows whose execution does not exist. */
  async orphans(): Promise<number> {
    const { rows } = await this.db.query<{ n: number }>({
      text: `SELECT ((SELECT count(*) FROM node_executions n WHERE NOT EXISTS (SELECT FROM executions e WHERE e.id = n.execution_id))
        + (SELECT count(*) FROM task_executions t WHERE NOT EXISTS (SELECT FROM executions e WHERE e.id = t.execution_id))
        + (SELECT count(*) FROM task_execution_events v WHERE NOT EXISTS (SELECT FROM task_executions t WHERE t.id = v.task_execution_id)))::int AS n`,
    });
    return rows[0]?.n ?? 0;
  }

  async clear(): Promise<void> {
    await this.db.query({
      text: "TRUNCATE executions, node_executions, task_executions, task_execution_events, retention_policies, audit_log, kept_raw_outputs, deleted_executions CASCADE",
    });
  }

  close(): void {
    this.blobs.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
