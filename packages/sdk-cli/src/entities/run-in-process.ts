import { createInterface } from "node:readline/promises";
import type * as RuntimeModule from "@flyte-ts/sdk/runtime";
import { formatOutputs, formatValue } from "./format-outputs.js";
import { valuesFromJson } from "./json-values.js";
import type { LocalRunRequest } from "./messages.js";

/** Runs an entity in this process; prints its nodes and outputs. Returns the exit status. */
export async function runInProcess(
  definition: RuntimeModule.Definition,
  { inputs, signals, secrets, cacheFolder, cacheVersions }: LocalRunRequest,
  { runDefinition, FolderCache }: typeof RuntimeModule,
): Promise<number> {
  try {
    const { outputs } = await runDefinition(definition, valuesFromJson(definition.inputs, inputs), {
      signals,
      secrets,
      cache: new FolderCache(cacheFolder),
      registration: { cacheVersion: (name) => cacheVersions[name] },
      waits: true,
      log: (level, message, fields = {}) =>
        print(`${level} ${message}${Object.keys(fields).length === 0 ? "" : ` ${formatValue(fields)}`}`),
      answerGate: askInTerminal,
      onNode: (node) => print(describeNode(node)),
    });
    for (const line of formatOutputs(definition, outputs)) print(line);
    return 0;
  } catch (error) {
    process.stderr.write(`${describeFailure(error)}\n`);
    return 1;
  }
}

type NodeRecord = Parameters<NonNullable<RuntimeModule.LocalOptions["onNode"]>>[0];

/** Describes a node that has ended, in one line. */
function describeNode({ id, entity, phase, attempts, items, cached, milliseconds }: NodeRecord): string {
  const notes = [
    items === undefined ? [] : [items === 1 ? "1 item" : `${items} items`],
    attempts > Math.max(items ?? 1, 1) ? [`${attempts} attempts`] : [],
    cached ? ["cached"] : [],
  ].flat();
  return `${id.padEnd(16)} ${phase.padEnd(10)} ${entity}  ${Math.round(milliseconds)} ms ${notes.join(", ")}`.trimEnd();
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Describes a failed node by its error's own stack. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "NodeFailed") return `${error.message.split("\n")[0]}\n${describeFailure(error.cause)}`;
  return ownFrames(error.stack ?? error.message);
}

/** Drops the frames of the SDK and of Node.js below the author's code. */
function ownFrames(stack: string): string {
  const lines = stack.split("\n");
  const last = lines.findLastIndex((line) => /^\s+at .*\/flyte-ts-project-/.test(line) && !line.includes("node_modules"));
  const kept = last < 0 ? lines : lines.slice(0, last + 1);
  return kept.map((line) => line.replace(/(?:file:\/\/)?\/[^\s()]*\/flyte-ts-project-[^/]+\//, "")).join("\n");
}

async function askInTerminal({
  name,
  kind,
}: RuntimeModule.LocalOptions extends { answerGate?: (question: infer Q) => unknown } ? Q : never): Promise<unknown> {
  if (!process.stdin.isTTY) throw new Error(`the gate ${name} waits for an answer; give it with --signal ${name}=VALUE`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(kind === "approve" ? `approve ${name}? (y/n) ` : `${name} = `);
  terminal.close();
  if (kind === "approve") return /^y/i.test(answer);
  try {
    return JSON.parse(answer);
  } catch {
    return answer;
  }
}
