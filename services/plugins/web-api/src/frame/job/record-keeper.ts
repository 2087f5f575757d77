import type { JsonObject } from "@bufbuild/protobuf";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Logger } from "@flyte-ts/telemetry";
import type { WebApi } from "../web-api.js";
import { type JobRecord, type JobRecords, recordOf } from "./job-record.js";
import { decodePluginState, encodeCreated, encodeCreating, encodeNothing } from "./plugin-state.js";

export interface RecordKeeperDeps<Job extends JsonObject> {
  readonly api: Pick<WebApi<Job>, "id" | "parseJob" | "adopt">;
  readonly records: JobRecords;
  readonly logger: Logger;
}

/**
 * Keeps the records of an API's attempts. Attempts without an output prefix have none. Methods
 * throw BlobUnavailableError unless stated otherwise.
 */
export class RecordKeeper<Job extends JsonObject> {
  constructor(private readonly deps: RecordKeeperDeps<Job>) {}

  /**
   * Records that the job is about to be created. Returns what an earlier record says instead: the
   * created job, or that the attempt was stopped.
   */
  async begin(request: TaskRequest): Promise<Job | "stopped" | undefined> {
    const { api, records } = this.deps;
    if (request.outputPrefix === "") return undefined;
    const earlier = await records.begin(request, recordOf(request, encodeCreating(api.id)));
    if (earlier?.stopped) return "stopped";
    const recorded = decodePluginState(earlier?.attempt?.request.pluginState ?? new Uint8Array(), api.id);
    const job = recorded.kind === "created" ? api.parseJob(recorded.job) : undefined;
    return job && ((await api.adopt?.(request, job)) ?? job);
  }

  /** Records the created job. Never rejects: without this record, a later process looks for it. */
  async created(request: TaskRequest, job: Job): Promise<void> {
    const { api, records, logger } = this.deps;
    if (request.outputPrefix === "") return;
    await records.write(request.outputPrefix, recordOf(request, encodeCreated(api.id, job))).catch((error: unknown) => {
      logger.warn({ attempt: request.generatedName, api: api.id, error: String(error) }, "cannot record the job of an attempt");
    });
  }

  /** Records that the API refused the job. Never rejects: without this record, it is looked for. */
  async refused(request: TaskRequest): Promise<void> {
    const { api, records, logger } = this.deps;
    if (request.outputPrefix === "") return;
    await records.write(request.outputPrefix, recordOf(request, encodeNothing(api.id))).catch((error: unknown) => {
      logger.warn({ attempt: request.generatedName, api: api.id, error: String(error) }, "cannot record that a job was refused");
    });
  }

  /** Records that the attempt fails although its job may still run. */
  async lost(request: TaskRequest, job: Job): Promise<void> {
    const { api, records } = this.deps;
    if (request.outputPrefix === "") return;
    await records.write(request.outputPrefix, recordOf(request, encodeCreated(api.id, job, { lost: true })));
  }

  async read(request: TaskRequest): Promise<JobRecord | undefined> {
    return request.outputPrefix === "" ? undefined : this.deps.records.read(request);
  }

  /** Records that nothing of the attempt runs, nor may be started. */
  async stopped(request: TaskRequest): Promise<void> {
    if (request.outputPrefix === "") return;
    await this.deps.records.write(request.outputPrefix, recordOf(request, request.pluginState, { stopped: true }));
  }

  async delete({ outputPrefix }: TaskRequest): Promise<void> {
    if (outputPrefix !== "") await this.deps.records.delete(outputPrefix);
  }
}
