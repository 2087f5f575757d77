import type { JsonObject } from "@bufbuild/protobuf";
import type { Time } from "@flyte-ts/async";
import type { BlobStore } from "@flyte-ts/blobstore";
import type { Logger } from "@flyte-ts/telemetry";
import { awsClientConfig } from "./aws/client-config.js";
import type { WebApiConfig } from "./config.js";
import { Endpoint } from "./frame/call/endpoint.js";
import type { JobRecords } from "./frame/job/job-record.js";
import { JobController } from "./frame/job/job-controller.js";
import type { WebApiMetrics } from "./frame/metrics.js";
import type { FrameSettings } from "./frame/settings.js";
import type { WebApi } from "./frame/web-api.js";

export interface ControllerDeps {
  readonly config: WebApiConfig;
  readonly store: Pick<BlobStore, "get" | "put" | "head" | "delete">;
  readonly records: JobRecords;
  readonly clock: Time;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics?: WebApiMetrics | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Settings that each API has. */
type ApiConfig = Pick<NonNullable<WebApiConfig["athena"]>, "rates" | "poll" | "limits">;

/**
 * Maximum wait of a creation for the rate limit, seconds. The message of its request stays
 * unacknowledged meanwhile.
 */
const MAX_CREATE_WAIT_SECONDS = 10;

/** Creates a controller for each configured API. An SDK is loaded only where it is needed. */
export async function createControllers(deps: ControllerDeps): Promise<JobController<JsonObject>[]> {
  const { batch, athena, bigquery, hive, trino } = deps.config;
  return Promise.all([
    ...(batch === undefined ? [] : [createBatch(batch, deps)]),
    ...(athena === undefined ? [] : [createAthena(athena, deps)]),
    ...(bigquery === undefined ? [] : [createBigQuery(bigquery, deps)]),
    ...(hive === undefined ? [] : [createHive(hive, deps)]),
    ...(trino === undefined ? [] : [createTrino(trino, deps)]),
  ]);
}

async function createBatch(config: NonNullable<WebApiConfig["batch"]>, deps: ControllerDeps) {
  const [{ BatchClient }, { BatchCalls }, { BatchApi }] = await Promise.all([
    import("@aws-sdk/client-batch"),
    import("./batch/batch-calls.js"),
    import("./batch/batch-api.js"),
  ]);
  const region = regionOf(config, deps);
  const endpoint = endpointOf("batch", config, deps);
  const calls = new BatchCalls(new BatchClient(awsClientConfig({ ...config, region })), endpoint);
  return controllerOf(new BatchApi({ calls, store: deps.store, place: { region }, settings: config }), { endpoint, config, deps });
}

async function createAthena(config: NonNullable<WebApiConfig["athena"]>, deps: ControllerDeps) {
  const [{ AthenaClient }, { AthenaApi }] = await Promise.all([import("@aws-sdk/client-athena"), import("./athena/athena-api.js")]);
  const region = regionOf(config, deps);
  const endpoint = endpointOf("athena", config, deps);
  const client = new AthenaClient(awsClientConfig({ ...config, region }));
  return controllerOf(new AthenaApi({ client, endpoint, blobs: deps.store, region, defaults: config }), { endpoint, config, deps });
}

async function createBigQuery(config: NonNullable<WebApiConfig["bigquery"]>, deps: ControllerDeps) {
  const [{ BigQueryCalls }, { BigQueryApi }] = await Promise.all([
    import("./bigquery/bigquery-client.js"),
    import("./bigquery/bigquery-api.js"),
  ]);
  const endpoint = endpointOf("bigquery", config, deps);
  return controllerOf(new BigQueryApi({ calls: new BigQueryCalls(config, endpoint), blobs: deps.store }), { endpoint, config, deps });
}

async function createHive(config: NonNullable<WebApiConfig["hive"]>, deps: ControllerDeps) {
  const [{ HiveClient }, { HiveApi }] = await Promise.all([import("./hive/hive-client.js"), import("./hive/hive-api.js")]);
  const endpoint = endpointOf("hive", config, deps);
  const client = new HiveClient(config, endpoint);
  return controllerOf(new HiveApi({ client, store: deps.store, settings: config }), { endpoint, config, deps });
}

async function createTrino(config: NonNullable<WebApiConfig["trino"]>, deps: ControllerDeps) {
  const [{ TrinoClient }, { TrinoApi }] = await Promise.all([import("./trino/trino-client.js"), import("./trino/trino-api.js")]);
  const endpoint = endpointOf("trino", config, deps);
  return controllerOf(new TrinoApi({ client: new TrinoClient(config, endpoint), blobs: deps.store, settings: config }), {
    endpoint,
    config,
    deps,
  });
}

function controllerOf<Job extends JsonObject>(
  api: WebApi<Job>,
  { endpoint, config, deps }: { readonly endpoint: Endpoint; readonly config: ApiConfig; readonly deps: ControllerDeps },
): JobController<JsonObject> {
  const { readers, outageMs, stopTimeoutMs } = deps.config;
  const maxPendingCreates = Math.max(1, Math.round(config.rates.writesPerSecond * MAX_CREATE_WAIT_SECONDS));
  const settings: FrameSettings = { limits: config.limits, poll: config.poll, readers, outageMs, stopTimeoutMs, maxPendingCreates };
  const { records, clock, random, logger, metrics } = deps;
  const onAbandoned = () => metrics?.abandoned.inc({ api: api.id });
  // The cast is safe: a controller's jobs come from `parseJob` and `prepare` of its own API.
  return new JobController({ api: api as unknown as WebApi<JsonObject>, endpoint, settings, records, clock, random, logger, onAbandoned });
}

function endpointOf(api: string, { rates }: ApiConfig, { clock, random, metrics }: ControllerDeps): Endpoint {
  return new Endpoint({ api, rates, clock, random, metrics });
}

function regionOf({ region }: { readonly region?: string | undefined }, { env }: ControllerDeps): string {
  return region ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? "us-east-1";
}
