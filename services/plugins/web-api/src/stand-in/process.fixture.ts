import type { JsonObject } from "@bufbuild/protobuf";
import type { Time } from "@flyte-ts/async";
import type { Plugin } from "@flyte-ts/task-plugin";
import type { MemoryStore } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { Endpoint } from "../frame/call/endpoint.js";
import { JobController } from "../frame/job/job-controller.js";
import { jobRecords } from "../frame/job/job-record.js";
import type { FrameSettings } from "../frame/settings.js";
import type { WebApi } from "../frame/web-api.js";
import { webApiPlugin } from "../plugin.js";

export const frameSettings: FrameSettings = {
  limits: { maxJobs: 10_000, maxJobsPerProject: 0, maxJobsPerNamespace: 0 },
  poll: { initialMs: 1_000, maxMs: 10_000 },
  readers: 8,
  maxPendingCreates: 100,
  outageMs: 600_000,
  stopTimeoutMs: 20_000,
};

export interface ProcessOptions {
  readonly clock: Time;
  readonly taskTypes: readonly string[];
  readonly api: (endpoint: Endpoint) => unknown;
  /** Blob store of the records, which outlives the process. */
  readonly store: MemoryStore;
  readonly settings?: Partial<FrameSettings>;
  readonly onAbandoned?: () => void;
}

/**
 * Returns the plugin of a new service process with one API. Nothing remains of earlier processes.
 */
export function webApiProcess({ clock, taskTypes, api, store, settings = {}, onAbandoned }: ProcessOptions): Plugin {
  const rates = { readsPerSecond: 1_000, readBurst: 1_000, writesPerSecond: 1_000, writeBurst: 1_000 };
  const random = () => 0.5;
  const endpoint = new Endpoint({ api: "test", rates, clock, random });
  const created = api(endpoint) as WebApi<JsonObject>;
  const logger = createLogger({ service: "test", level: "silent" });
  const records = jobRecords(store);
  const settingsOfApi = { ...frameSettings, ...settings };
  const controller = new JobController({ api: created, endpoint, settings: settingsOfApi, records, clock, random, logger, onAbandoned });
  return webApiPlugin({ routes: new Map(taskTypes.map((type) => [type, created.id])), controllers: [controller], records });
}
