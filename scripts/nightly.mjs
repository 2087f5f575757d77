// `npm run nightly`: runs the long forms of tests that `npm test` runs short. Arguments select
// parts: `npm run nightly -- simulation faults`.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, environment as baseEnvironment, nodeProgram, root, run } from "./prepare.mjs";

/** Files that vitest runs, and the environment that makes them long; or arguments of the bench. */
const PARTS = {
  simulation: { files: ["services/propeller/simulation"], environment: { SIM_SEEDS: "10000" } },
  // Needs the registry of npm.
  "plugin-tutorial": {
    files: ["conformance/src/plugins/tutorial.test.ts", "conformance/src/plugins/deploy-page.test.ts"],
    environment: { PLUGIN_TUTORIAL: "install" },
  },
  // Needs the registry of npm.
  "published-sdk": {
    files: ["conformance/src/typescript-project/published-packages.test.ts"],
    environment: { SDK_NODES: "22.12.0,22,24" },
  },
  "plugin-simulation": {
    files: [
      "packages/task-plugin/src/harness/simulation.test.ts",
      "services/plugins/operator/src/simulation.test.ts",
      "services/plugins/pod/src/simulation.test.ts",
      "services/plugins/web-api/src/simulation.test.ts",
    ],
    environment: { PLUGIN_SEEDS: "2000" },
  },
  properties: { files: propertyFiles(), environment: { PROPERTY_SEED: String(Date.now() % 2 ** 31) } },
  walks: { files: ["services/propeller/src/engine/run/full-scan.test.ts"], environment: { FULL_WALK_RUNS: "10000" } },
  faults: { files: ["conformance/src/faults/faults.test.ts"], environment: { FAULT_ROUNDS: "72" } },
  replicas: {
    files: ["conformance/src/faults/replicas.test.ts", "conformance/src/faults/replicas-kubernetes.test.ts"],
    environment: { REPLICA_ROUNDS: "20" },
  },
  "api-faults": { files: ["conformance/src/faults/api-faults.test.ts"], environment: { API_FAULTS: "full" } },
  "bus-cluster": { files: ["packages/messaging/src/server/cluster.test.ts"], environment: { BUS_CLUSTER_ROUNDS: "5" } },
  "control-plane-faults": { files: ["conformance/src/faults/control-plane-faults.test.ts"], environment: { CONTROL_PLANE_FAULTS: "full" } },
  "postgres-failover": {
    files: ["conformance/src/faults/postgres-failover.test.ts"],
    environment: { POSTGRES_FAILOVER_ROUNDS: "5" },
  },
  "complete-ends": { files: ["conformance/src/consistency/consistency.test.ts"], environment: { COMPLETE_ENDS: "full" } },
  "data-planes": { files: ["conformance/src/faults/data-planes.test.ts"], environment: { DATA_PLANES: "full" } },
  "rolling-upgrade": { files: ["conformance/src/operations/rolling-upgrade.test.ts"], environment: { ROLLING_UPGRADE: "full" } },
  "stop-signals": { files: ["conformance/src/operations/stop-signals.test.ts"], environment: { STOP_SIGNALS: "full" } },
  backup: { files: ["conformance/src/operations/backup.test.ts"], environment: { BACKUP: "full" } },
  fuzz: {
    files: ["conformance/src/api/invalid-requests.test.ts", "packages/rpc/src/rest/gateway.fuzz.test.ts"],
    environment: { FUZZ_SECONDS: "600", PROPERTY_SEED: String(Date.now() % 2 ** 31) },
  },
  schedules: { files: ["services/scheduler/src/simulation"], environment: { SCHEDULE_SEEDS: "300", SCHEDULE_YEARS: "10" } },
  retention: { files: ["services/admin/src/automation/retention"], environment: { RETENTION_RUNS: "2000" } },
  lists: { files: ["services/admin/src/list-tests/indexes.test.ts"], environment: { LISTS: "full" } },
  // Installs PySpark, Ray and Dask from PyPI; Spark needs Java.
  plugins: {
    files: ["conformance/src/examples/plugins.test.ts", "conformance/src/plugins/task-types"],
    environment: { PLUGIN_EXAMPLES: "full", TASK_TYPES: "full" },
  },
  // Installs PySpark, which needs Java.
  operators: {
    files: ["services/plugins/operator/src/integration", "services/plugins/pod/src/load.integration.test.ts"],
    environment: { OPERATORS: "full", OPERATOR_KILLS: "20" },
  },
  // Attempts of all operators at once, while the service is killed again and again.
  "operators-mixed": {
    files: ["services/plugins/operator/src/integration/kills.integration.test.ts"],
    environment: { OPERATORS: "full", OPERATOR_MIXED: "80" },
  },
  // Installs flytekit's connectors and the clients of their services from PyPI.
  connectors: {
    files: [
      "services/plugins/connector/src/flytekit/",
      "services/plugins/connector/src/task-load.test.ts",
      "services/plugins/connector/src/process-load.integration.test.ts",
    ],
    environment: { CONNECTORS: "full" },
  },
  // Installs PySpark from PyPI; it needs Java.
  hive: { files: ["services/plugins/web-api/src/hive/spark-thrift-server.integration.test.ts"], environment: { HIVE: "full" } },
  blobs: { files: ["conformance/src/blobs"], environment: { BLOB_SERVERS: "all" } },
  // Installs Debian packages and makes this machine a node.
  ...(process.getuid?.() === 0 ? { "one-node": { files: ["conformance/src/one-node"], environment: { E2E_KUBERNETES: "1" } } } : {}),
  // Makes this machine a node, and attacks and kills its warm pods.
  ...(process.getuid?.() === 0
    ? { "warm-pods": { files: ["conformance/src/warm-pods"], environment: { WARM_PODS: "full", WARM_KILL_ROUNDS: "20" } } }
    : {}),
  // Builds CoreDNS and kube-proxy, and images for tasks of plugins, and makes this machine a node.
  ...(process.getuid?.() === 0
    ? { "one-node-plugins": { files: ["conformance/src/plugins/one-node"], environment: { ONE_NODE_PLUGINS: "1" } } }
    : {}),
  // Needs the registries of npm and PyPI.
  platforms: { files: ["conformance/src/structure/platform-resolution.test.ts"], environment: { PLATFORMS: "resolve" } },
  // Registers the Python examples; flytectl is built once.
  "console-commands": { files: ["conformance/src/console/commands.test.ts"], environment: { CONSOLE_COMMANDS: "full" } },
  "console-errors": {
    files: ["conformance/src/console/first-run.test.ts"],
    environment: { CONSOLE_FAILED_NODES: "300", CONSOLE_APPEARANCES: "full" },
  },
  "console-map": { files: ["conformance/src/console/phone.test.ts"], environment: { CONSOLE_MAP_ITEMS: "96000" } },
  attack: { files: ["conformance/src/attack/exhaustion/neighbours.test.ts"], environment: { ATTACK: "full" } },
  // 20,000 executions with retention: accepted, succeeded and recorded ones must be equal.
  soak: { bench: ["--keep", "5", "soak", "20000"] },
  leases: { files: ["packages/kubernetes/src/shard-lease"], environment: { SHARD_SEEDS: "5000" } },
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`no such part: ${unknown.join(", ")}; there are ${Object.keys(PARTS).join(", ")}`);
  process.exit(2);
}
await ensureInstalled();
await ensureBuilt();
const failed = [];
for (const [name, part] of Object.entries(PARTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n== ${name}: ${JSON.stringify(part.environment ?? part.bench)}`);
  if (runPart(part) !== 0) failed.push(name);
}
console.log(failed.length === 0 ? "nightly: all parts passed" : `nightly: failed: ${failed.join(", ")}`);
process.exit(failed.length > 0 ? 1 : 0);

/** Returns the exit code. */
function runPart({ files, environment, bench }) {
  if (bench !== undefined) return run(nodeProgram(), [join(root, "bench", "dist", "main.js"), ...bench]);
  return run("vitest", ["run", ...files], { env: { ...baseEnvironment(), ...environment } });
}

/** Files of property tests. */
function propertyFiles() {
  return ["packages", "services"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"))
      .map((file) => join(folder, file))
      .filter((file) => readFileSync(join(root, file), "utf8").includes("fc.assert(")),
  );
}
