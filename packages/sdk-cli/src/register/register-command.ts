import { makeBundle } from "../bundling/make-bundle.js";
import { loadProject, PROJECT_FLAGS } from "../project/project.js";
import { parseFlags } from "../parse-flags.js";
import { registerProject } from "./register-project.js";
import { connectTo } from "./server.js";

const FLAGS = {
  ...PROJECT_FLAGS,
  version: { type: "string" },
  "dry-run": { type: "boolean", default: false },
  activate: { type: "boolean", default: false },
} as const;

/** `flyte-ts register`: registers everything in the sources of a project. */
export async function registerCommand(argv: readonly string[], write: (text: string) => void): Promise<number> {
  const { values, positionals } = parseFlags(argv, FLAGS);
  if (positionals.length > 0) return 2;
  const project = await loadProject(process.cwd(), values);
  const bundle = await makeBundle(project);
  try {
    for (const warning of bundle.warnings) process.stderr.write(`${warning}\n`);
    if (values["dry-run"]) {
      for (const { kind, name } of bundle.listed.entities) write(`${kind} ${name}\n`);
      write(`bundle ${bundle.archive.digest}, ${bundle.archive.bytes.length} bytes\n`);
      return 0;
    }
    const client = connectTo(project.endpoint);
    try {
      const { version, sentBytes, created } = await registerProject(client, { project, bundle }, values);
      if (created === undefined) write(`nothing is new: all entities are registered with the version ${version}\n`);
      for (const { kind, name, isNew } of created ?? []) write(`${isNew ? "created" : "is as it was"}  ${kind} ${name}\n`);
      if (created !== undefined) write(`version ${version}, bundle ${bundle.archive.digest}, ${sentBytes} bytes sent\n`);
    } finally {
      client.close();
    }
    return 0;
  } finally {
    bundle.host.close();
  }
}
