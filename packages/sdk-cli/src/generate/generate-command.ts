import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseFlags } from "../parse-flags.js";
import { loadProject, PROJECT_FLAGS } from "../project/project.js";
import { connectTo } from "../register/server.js";
import { UsageError } from "../usage-error.js";
import { listNames, readInterface, type ReferenceKind, type RegisteredInterface, type Scope } from "./registered-interface.js";
import { changedReferences, readReferences, writeModule } from "./write-module.js";
import type { FlyteClient } from "@flyte-ts/client";

const FLAGS = {
  ...PROJECT_FLAGS,
  kind: { type: "string", multiple: true, default: ["task", "launchplan"] as string[] },
  match: { type: "string", default: "*" },
  version: { type: "string", default: "pin" },
  out: { type: "string" },
  check: { type: "boolean", default: false },
} as const;

/** Requests in flight at a time. */
const CONCURRENCY = 16;

/**
 * `flyte-ts generate`: writes references to registered entities. With --check it writes nothing and
 * returns 1 when the server has other interfaces than the file.
 */
export async function generateCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const { values, positionals } = parseFlags(argv, FLAGS);
  const { out } = values;
  if (out === undefined || positionals.length > 0) return 2;
  const kinds = values.kind.map(kindOf);
  const project = await loadProject(process.cwd(), values);
  const client = connectTo(project.endpoint);
  const isVersion = values.version !== "pin" && values.version !== "latest";
  const selection = { kinds, pattern: patternOf(values.match), version: isVersion ? values.version : undefined };
  try {
    const entities = await selected(client, { project: project.project, domain: project.domain }, selection);
    const text = writeModule(entities, { pin: values.version !== "latest" });
    if (values.check) return check(out, text, write);
    writeFileSync(out, text);
    write(`${entities.length} references are in ${out}\n`);
    return 0;
  } finally {
    client.close();
  }
}

function check(out: string, text: string, write: (text: string) => void): number {
  if (!existsSync(out)) throw new UsageError(`--check: ${out} does not exist`);
  const changed = changedReferences(readReferences(readFileSync(out, "utf8")), readReferences(text));
  for (const name of changed) write(`${name} has another interface than in ${out}\n`);
  if (changed.length === 0) write(`${out} has the interfaces of the server\n`);
  return changed.length === 0 ? 0 : 1;
}

interface Selection {
  readonly kinds: readonly ReferenceKind[];
  readonly pattern: RegExp;
  readonly version: string | undefined;
}

async function selected(client: FlyteClient, scope: Scope, { kinds, pattern, version }: Selection): Promise<RegisteredInterface[]> {
  const addresses: { readonly kind: ReferenceKind; readonly name: string }[] = [];
  for (const kind of kinds)
    addresses.push(...(await listNames(client, kind, scope)).filter((name) => pattern.test(name)).map((name) => ({ kind, name })));
  const found: RegisteredInterface[] = [];
  for (let at = 0; at < addresses.length; at += CONCURRENCY) {
    const read = addresses.slice(at, at + CONCURRENCY).map((address) => readInterface(client, { ...scope, ...address, version }));
    found.push(...(await Promise.all(read)).filter((entity) => entity !== undefined));
  }
  return found;
}

function kindOf(text: string): ReferenceKind {
  if (text === "task" || text === "workflow" || text === "launchplan") return text;
  throw new UsageError(`--kind: ${text} is none of task, workflow and launchplan`);
}

/** Returns the expression of a pattern in which `*` stands for any text. */
function patternOf(pattern: string): RegExp {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}
