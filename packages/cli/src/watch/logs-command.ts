import { createClient, resumeStream } from "@flyte-ts/client";
import { LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { openAdminChannel, parsePositionals } from "./admin-channel.js";

const options = {
  attempt: { type: "string" },
  item: { type: "string" },
  container: { type: "string", default: "" },
  tail: { type: "string" },
  "no-follow": { type: "boolean", default: false },
  times: { type: "boolean", default: false },
} as const;

/**
 * `flyte-ts logs PROJECT DOMAIN NAME NODE`: prints the log of a node's task, during and after its
 * run.
 */
export async function logsCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const parsed = parsePositionals(argv, { words: 4, options });
  if (parsed === undefined) return 2;
  const [project = "", domain = "", name = "", nodeId = ""] = parsed.words;
  const { attempt, item, tail, container, times, endpoint, "no-follow": noFollow } = parsed.values;
  const numbers = { attempt, item, tailLines: tail };
  if (Object.values(numbers).some((text) => text !== undefined && !/^\d{1,9}$/.test(text))) return 2;
  const selection = Object.fromEntries(Object.entries(numbers).flatMap(([key, text]) => (text === undefined ? [] : [[key, Number(text)]])));
  const channel = openAdminChannel(endpoint);
  const live = createClient({ channel, service: LiveService });
  const id = { nodeId, executionId: { project, domain, name } };
  try {
    for await (const { lines } of resumeStream((cursor) => live.followLog({ id, container, noFollow, ...selection, cursor }))) {
      for (const { time, text } of lines) write(times ? `${time} ${text}\n` : `${text}\n`);
    }
  } finally {
    channel.close();
  }
  return 0;
}
