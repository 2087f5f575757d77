import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ChangeFormatter } from "./format-changes.js";
import { clientsOf, watchExecution } from "./watch-execution.js";
import { noteWaiting, openAdminChannel, parsePositionals } from "./admin-channel.js";

/**
 * `flyte-ts watch PROJECT DOMAIN NAME`: prints the progress of an execution until it ends. The exit
 * status is its outcome.
 */
export async function watchCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const parsed = parsePositionals(argv, { words: 3, options: {} });
  if (parsed === undefined) return 2;
  const [project = "", domain = "", name = ""] = parsed.words;
  const channel = openAdminChannel(parsed.values.endpoint);
  const changes = new ChangeFormatter();
  const answered = noteWaiting(`admin at ${parsed.values.endpoint}`);
  try {
    for await (const message of watchExecution(clientsOf(channel), { project, domain, name })) {
      answered();
      for (const line of changes.lines(message)) write(`${line}\n`);
    }
  } finally {
    answered();
    channel.close();
  }
  return changes.phase === WorkflowExecution_Phase.SUCCEEDED ? 0 : 1;
}
