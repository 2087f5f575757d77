import { readFileSync, writeFileSync } from "node:fs";
import { type ChannelOptions, createClient, createFlyteClient, openChannel } from "@flyte-ts/client";
import { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import { loadConfig } from "@flyte-ts/config";
import { normalizeBooleanFlags } from "../boolean-flags.js";
import { importConfigSchema } from "./config.js";
import { runImport } from "./run-import.js";

const CONNECT_TIMEOUT_MS = 15_000;

/**
 * `flyte-ts import`: resolves to the exit status, which is 0 also when something was skipped; the
 * report lists it.
 */
export async function importCommand(argv: readonly string[]): Promise<number> {
  const config = loadConfig(importConfigSchema, { service: "import", argv: normalizeBooleanFlags(argv, ["executions"]), env: process.env });
  const from = createFlyteClient(channelOptions(config.from, config.fromTokenFile));
  const target = channelOptions(config.to, config.toTokenFile);
  const to = createFlyteClient(target);
  const channel = openChannel(target);
  const history = createClient({ channel, service: HistoryService });
  try {
    await Promise.all([from.ready(CONNECT_TIMEOUT_MS), to.ready(CONNECT_TIMEOUT_MS)]);
    const report = await runImport({ from, to, history, config, progress: (text) => process.stderr.write(`${text}\n`) });
    process.stdout.write(report.text());
    if (config.report !== undefined) writeFileSync(config.report, `${JSON.stringify(report, undefined, 2)}\n`);
    return 0;
  } finally {
    from.close();
    to.close();
    channel.close();
  }
}

function channelOptions(endpoint: string, tokenFile: string | undefined): ChannelOptions {
  if (tokenFile === undefined) return { endpoint };
  const metadata = () => {
    const token = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;
    // Admins differ in which of the two headers they read.
    return { authorization: token, "flyte-authorization": token };
  };
  return { endpoint, metadata };
}
