import { readFileSync, writeFileSync } from "node:fs";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { loadConfig } from "@flyte-ts/config";
import { booleanFlags } from "../boolean-flags.js";
import { importConfigSchema } from "./config.js";
import { runImport } from "./run.js";

const CONNECT_MS = 15_000;

/** `flyte-ts import`: resolves to the exit status, which is 0 also where something was left out; the report says what. */
export async function importCommand(argv: readonly string[]): Promise<number> {
  const config = loadConfig(importConfigSchema, { service: "import", argv: booleanFlags(argv, ["executions"]), env: process.env });
  const from = connect(config.from, config.fromTokenFile);
  const to = connect(config.to, config.toTokenFile);
  try {
    await Promise.all([from.ready(CONNECT_MS), to.ready(CONNECT_MS)]);
    const report = await runImport({ from, to, config, progress: (text) => process.stderr.write(`${text}\n`) });
    process.stdout.write(report.text());
    if (config.report !== undefined) writeFileSync(config.report, `${JSON.stringify(report, undefined, 2)}\n`);
    return 0;
  } finally {
    from.close();
    to.close();
  }
}

function connect(endpoint: string, tokenFile: string | undefined): FlyteClient {
  if (tokenFile === undefined) return createFlyteClient({ endpoint });
  return createFlyteClient({
    endpoint,
    metadata: () => {
      const token = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;
      // Some read one of them, some the other.
      return { authorization: token, "flyte-authorization": token };
    },
  });
}
