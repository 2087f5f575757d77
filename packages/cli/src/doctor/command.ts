import { loadConfig } from "@flyte-ts/config";
import { createLogger } from "@flyte-ts/telemetry";
import { checkAdmin } from "./check-admin.js";
import { checkBlobs } from "./check-blobs.js";
import { checkBus } from "./check-bus.js";
import { checkCluster } from "./check-cluster.js";
import { checkDatabase } from "./check-database.js";
import { type DoctorConfig, doctorConfigSchema } from "./config.js";
import type { Finding } from "./finding.js";

const MARKS = { well: "ok     ", warning: "warning", ill: "ill    " } as const;

/** `flyte-ts doctor`: checks the configured endpoints, prints findings and remedies. Resolves to the exit status: 1 when a check failed. */
export async function doctorCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const words = argv.map((word) => (word === "--inCluster" ? "--inCluster=true" : word));
  const config = loadConfig(doctorConfigSchema, { service: "doctor", argv: words, env: process.env });
  const findings = await examine(config);
  if (findings.length === 0) {
    write("nothing was named to look at: --admin, --database, --nats, --blobs, --kubeconfig or --inCluster\n");
    return 2;
  }
  for (const { what, verdict, detail, remedy } of findings) {
    write(`${MARKS[verdict]}  ${what}: ${detail}\n`);
    if (remedy !== undefined) write(`         → ${remedy}\n`);
  }
  return findings.some(({ verdict }) => verdict === "ill") ? 1 : 0;
}

/** Runs all checks concurrently; findings are in the order of the settings. */
export async function examine(config: DoctorConfig): Promise<readonly Finding[]> {
  const logger = createLogger({ service: "doctor", level: "silent" });
  const { admin, database, nats, blobs, kubeconfig, context, inCluster, namespace } = config;
  const patienceMs = config.patience * 1_000;
  const nothing = Promise.resolve([]);
  const checks: readonly Promise<readonly Finding[]>[] = [
    admin === undefined ? nothing : checkAdmin(admin, patienceMs),
    database === undefined ? nothing : checkDatabase(database, logger),
    nats === undefined ? nothing : checkBus(nats, { logger, patienceMs }),
    blobs === undefined ? nothing : checkBlobs(blobs, config),
    kubeconfig === undefined && !inCluster
      ? nothing
      : checkCluster({ access: inCluster ? { inCluster } : { kubeconfig, context }, namespace, patienceMs }),
  ];
  return (await Promise.all(checks)).flat();
}
