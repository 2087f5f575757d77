import { loadConfig } from "@flyte-ts/config";
import { createLogger } from "@flyte-ts/telemetry";
import { checkAdmin } from "./check-admin.js";
import { checkBlobStore } from "./check-blob-store.js";
import { checkBus } from "./check-bus.js";
import { checkCluster } from "./check-cluster.js";
import { checkDatabase } from "./check-database.js";
import { type DoctorConfig, doctorConfigSchema } from "./config.js";
import type { Finding } from "./finding.js";

const MARKS = { ok: "ok     ", warning: "warning", error: "error  " } as const;

/**
 * `flyte-ts doctor`: checks the configured endpoints, prints findings and remedies. Resolves to the
 * exit status: 1 when a check failed.
 */
export async function doctorCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const args = argv.map((arg) => (arg === "--inCluster" ? "--inCluster=true" : arg));
  const config = loadConfig(doctorConfigSchema, { service: "doctor", argv: args, env: process.env });
  const findings = await runChecks(config);
  if (findings.length === 0) {
    write("nothing to check; name at least one of --admin, --database, --nats, --blobs, --kubeconfig or --inCluster\n");
    return 2;
  }
  for (const { subject, severity, detail, hint } of findings) {
    write(`${MARKS[severity]}  ${subject}: ${detail}\n`);
    if (hint !== undefined) write(`         → ${hint}\n`);
  }
  return findings.some(({ severity }) => severity === "error") ? 1 : 0;
}

/** Runs all checks concurrently; findings are in the order of the settings. */
export async function runChecks(config: DoctorConfig): Promise<readonly Finding[]> {
  const logger = createLogger({ service: "doctor", level: "silent" });
  const { admin, database, nats, blobs, kubeconfig, context, inCluster, namespace } = config;
  const timeoutMs = config.patience * 1_000;
  const nothing = Promise.resolve([]);
  const checks: readonly Promise<readonly Finding[]>[] = [
    admin === undefined ? nothing : checkAdmin(admin, timeoutMs),
    database === undefined ? nothing : checkDatabase(database, logger),
    nats === undefined ? nothing : checkBus(nats, { logger, timeoutMs }),
    blobs === undefined ? nothing : checkBlobStore(blobs, config),
    kubeconfig === undefined && !inCluster
      ? nothing
      : checkCluster({ access: inCluster ? { inCluster } : { kubeconfig, context }, namespace, timeoutMs }),
  ];
  return (await Promise.all(checks)).flat();
}
