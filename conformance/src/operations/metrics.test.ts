import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type Identifier, IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow } from "../stack/shell-tasks.js";
import { type RunningStack, startStack } from "../stack/stack-fixture.js";
import { root } from "../repository.js";

const metricsReference = readFileSync(join(root, "docs", "reference", "metrics.md"), "utf8");
/** Files of dashboards and alerts. */
const monitoring = ["alerts.yaml", "dashboards/flyte-executions.json", "dashboards/flyte-control-plane.json"].map((file) =>
  readFileSync(join(root, "deploy", "kubernetes", "monitoring", file), "utf8"),
);

/** Metrics that exist only with other configurations. */
const OPTIONAL_METRICS =
  /^flyte_propeller_recorder_|^flyte_admin_cluster_resources_|^flyte_plugin_connector_|^flyte_plugin_operator_|^flyte_plugin_web_api_|^flyte_plugin_warm_pod/;
/** Documented metrics by the service of the local stack that exposes them. */
const SERVICES = {
  propeller: /^flyte_propeller_/,
  admin: /^flyte_admin_/,
  scheduler: /^flyte_scheduler_/,
  "plugin-pod": /^flyte_plugin_/,
} as const;
/** Services without their own table. */
const SERVICES_WITHOUT_TABLE = ["datacatalog"] as const;
type Service = keyof typeof SERVICES;

let stack: RunningStack;
let client: FlyteClient;
let ports: Record<Service | (typeof SERVICES_WITHOUT_TABLE)[number], number>;

beforeAll(async () => {
  stack = await startStack();
  client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
  ports = (JSON.parse(readFileSync(join(stack.folder, "config", "ports.json"), "utf8")) as { ops: typeof ports }).ops;
}, 300_000);
afterAll(async () => {
  client.close();
  await stack.stop();
}, 60_000);

/** Samples by name and labels. */
async function scrape(service: Service): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`http://127.0.0.1:${ports[service]}/metrics`);
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
}

async function scrapeAll(): Promise<Readonly<Record<Service, ReadonlyMap<string, number>>>> {
  return {
    propeller: await scrape("propeller"),
    admin: await scrape("admin"),
    scheduler: await scrape("scheduler"),
    "plugin-pod": await scrape("plugin-pod"),
  };
}

/** Names of metrics, including those without a sample. */
async function metricNames(service: keyof typeof ports): Promise<readonly string[]> {
  const text = await (await fetch(`http://127.0.0.1:${ports[service]}/metrics`)).text();
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1] as string);
}

const sum = (samples: ReadonlyMap<string, number>, prefix: string) =>
  [...samples].reduce((total, [sample, value]) => (sample.startsWith(prefix) ? total + value : total), 0);

test("documented metrics exist, existing metrics are documented, and their values change", async () => {
  const before = await scrapeAll();
  const good = await registerShellWorkflow(client, "measured", [{ id: "n0", script: "sleep 3", after: [] }]);
  const bad = await registerShellWorkflow(client, "unmeasured", [{ id: "n0", script: "exit 1", after: [], retries: 1 }]);
  // The end of the failing execution triggers the other one and notifies an unreachable receiver.
  await startAfterFailure(bad, good);
  const recipients = {
    type: { case: "slack" as const, value: { recipientsEmail: ["webhook:missing"] } },
    phases: [WorkflowExecution_Phase.FAILED],
  };
  const notificationOverrides = { case: "notifications" as const, value: { notifications: [recipients] } };
  const ids: { readonly project: string; readonly domain: string; readonly name: string }[] = [];
  for (const launchPlan of [good, bad]) {
    const id = { project: launchPlan.project, domain: launchPlan.domain, name: `m${ids.length}x${Date.now().toString(36)}` };
    await client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {}, notificationOverrides }, inputs: {} });
    ids.push(id);
  }
  await expect
    .poll(() => scrape("propeller"), { timeout: 30_000 })
    .toSatisfy((samples: ReadonlyMap<string, number>) => (samples.get("flyte_propeller_active_tasks") ?? 0) > 0);
  const level = await scrape("propeller");
  expect(sum(level, 'flyte_propeller_workflows{phase="Running"}')).toBeGreaterThan(0);
  for (const id of ids) await waitForEnd(client, id, 60_000);
  const firings = async () => (await scrape("admin")).get('flyte_admin_trigger_firings_total{outcome="started"}');
  await expect.poll(firings, { timeout: 20_000 }).toBe(1);
  const givenUp = async () => (await scrape("admin")).get('flyte_admin_notification_tries_total{channel="webhook",outcome="given_up"}');
  await expect.poll(givenUp, { timeout: 20_000 }).toBe(1);

  const after = await scrapeAll();
  const documented = [...metricsReference.matchAll(/^\| `(flyte_\w+)`/gm)]
    .map((match) => match[1] as string)
    .filter((name) => !OPTIONAL_METRICS.test(name));
  expect(documented.length).toBeGreaterThan(25);
  for (const service of Object.keys(SERVICES) as Service[]) {
    const there = await metricNames(service);
    const own = documented.filter((name) => SERVICES[service].test(name));
    expect(there.filter((name) => SERVICES[service].test(name)).toSorted(), service).toEqual(own.toSorted());
  }
  const moved: readonly (readonly [Service, string])[] = [
    ["propeller", "flyte_propeller_executions_started_total"],
    ["propeller", 'flyte_propeller_executions_ended_total{phase="Success"}'],
    ["propeller", 'flyte_propeller_executions_ended_total{phase="Failed"}'],
    ["propeller", 'flyte_propeller_execution_seconds_sum{phase="Success"}'],
    ["propeller", "flyte_propeller_round_seconds_count"],
    ["propeller", 'flyte_propeller_transitions_total{what="attemptRetried"'],
    ["propeller", 'flyte_propeller_status_write_seconds_count{outcome="ok"}'],
    ["propeller", "flyte_propeller_status_write_bytes_sum"],
    ["admin", 'flyte_admin_call_seconds_count{method="CreateExecution",code="OK"}'],
    ["admin", 'flyte_admin_ingest_events_total{outcome="recorded"}'],
    ["admin", "flyte_admin_ingest_lag_seconds_count"],
    ["plugin-pod", 'flyte_plugin_requests_total{desired="RUN"}'],
    ["plugin-pod", "flyte_plugin_events_total"],
  ];
  for (const [service, prefix] of moved) expect(sum(after[service], prefix), prefix).toBeGreaterThan(sum(before[service], prefix));
  // A plugin service sends heartbeats.
  const silence = async () => (await scrape("propeller")).get('flyte_propeller_plugin_silence_seconds{task_type="echo"}') ?? 1e9;
  await expect.poll(silence, { timeout: 40_000, interval: 500 }).toBeLessThan(30);
  expect(after.propeller.get("flyte_propeller_free_workers")).toBeGreaterThan(0);
  expect(after.propeller.get("flyte_propeller_shards")).toBe(32);
}, 150_000);

async function startAfterFailure(source: Identifier, target: Identifier): Promise<void> {
  const { project, domain } = source;
  const execution = { launch_plan: source.name, phases: ["FAILED"] };
  const trigger = { id: { project, domain, name: "again" }, launch_plan: toJson(IdentifierSchema, target), execution };
  const response = await fetch(`http://127.0.0.1:${stack.api}/api/v1/triggers`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ trigger }),
  });
  expect(await response.text()).toContain("TRIGGER_STATE_ACTIVE");
}

test("every metric of a dashboard or alert is exported", async () => {
  const exported = new Set<string>();
  for (const service of Object.keys({
    ...SERVICES,
    ...Object.fromEntries(SERVICES_WITHOUT_TABLE.map((name) => [name, 0])),
  }) as (keyof typeof ports)[])
    for (const name of await samplesOf(service)) exported.add(name);
  const isOptional = (name: string) => OPTIONAL_METRICS.test(name) && metricsReference.includes(`\`${name}\``);
  const shown = new Set(monitoring.flatMap((text) => [...text.matchAll(/\bflyte_\w+/g)].map(([name]) => name)));
  expect(shown.size).toBeGreaterThan(30);
  expect([...shown].filter((name) => !exported.has(name) && !isOptional(name))).toEqual([]);
});

/** Sample names that a service may expose: a histogram has three. */
async function samplesOf(service: keyof typeof ports): Promise<readonly string[]> {
  const text = await (await fetch(`http://127.0.0.1:${ports[service]}/metrics`)).text();
  return [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
}
