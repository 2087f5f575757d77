import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../repository.js";

/** Replacement of a text in a built file; the text must occur exactly once. */
interface Replacement {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Field that the next build sets in statuses, and its column. */
export const NEXT_FIELD = "nextBuild";
export const NEXT_COLUMN = "next_build";

/** Changes of the next build: a column, a field in each status, a field in each message. */
const REPLACEMENTS: readonly Replacement[] = [
  {
    file: "services/admin/dist/executions/store/execution/insert.js",
    from: "result, error, error_kind, error_code, workflow_name)",
    to: `result, error, error_kind, error_code, workflow_name, ${NEXT_COLUMN})`,
  },
  {
    file: "services/admin/dist/executions/store/execution/insert.js",
    from: "$24, $25, $26, $27, $28)",
    to: "$24, $25, $26, $27, $28, 'next')",
  },
  {
    file: "services/propeller/dist/engine/status/run-status.js",
    from: "    setNode(node, status) {\n        node.setStatus(status);",
    to: `    setNode(node, status) {\n        node.setStatus(Object.isFrozen(status) ? status : { ...status, ${NEXT_FIELD}: "node" });`,
  },
  {
    file: "services/propeller/dist/engine/status/run-status.js",
    from: "    setWorkflow(status) {\n        this.workflow = status;",
    to: `    setWorkflow(status) {\n        this.workflow = { ...status, ${NEXT_FIELD}: { of: "workflow" } };`,
  },
  {
    file: "packages/messaging/dist/bus.js",
    from: "compressIfTooLarge(message, ",
    // Field 1023, one byte long.
    to: "compressIfTooLarge(Buffer.concat([message, Buffer.from([0xfa, 0x3f, 1, 120])]), ",
  },
];

const MIGRATION = `ALTER TABLE executions ADD COLUMN ${NEXT_COLUMN} text NOT NULL DEFAULT 'before', ADD COLUMN next_note text;
CREATE TABLE next_things (execution_id bigint PRIMARY KEY REFERENCES executions (id) ON DELETE CASCADE);
`;

export interface PatchedBuild {
  /** Root folder for `startService`, laid out like the repository. */
  readonly root: string;
  remove(): void;
}

/** Copies the build and applies the changes of a next version. */
export function createPatchedBuild(): PatchedBuild {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-next-build-"));
  mkdirSync(join(folder, "node_modules", "@flyte-ts"), { recursive: true });
  for (const workspace of workspaces()) {
    for (const part of ["dist", "migrations", "package.json"].filter((name) => existsSync(join(root, workspace, name))))
      cpSync(join(root, workspace, part), join(folder, workspace, part), { recursive: true });
    const { name } = JSON.parse(readFileSync(join(root, workspace, "package.json"), "utf8")) as { name: string };
    symlinkSync(join(folder, workspace), join(folder, "node_modules", name));
  }
  for (const name of readdirSync(join(root, "node_modules")).filter((each) => each !== "@flyte-ts"))
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  for (const change of REPLACEMENTS) applyReplacement(folder, change);
  writeFileSync(join(folder, "services/admin/migrations/9999_next_build.sql"), MIGRATION);
  return { root: folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function workspaces(): string[] {
  const below = (folder: string) => readdirSync(join(root, folder)).map((name) => join(folder, name));
  return [...below("packages"), ...below("services"), ...below("services/plugins")].filter((each) =>
    existsSync(join(root, each, "package.json")),
  );
}

function applyReplacement(folder: string, { file, from, to }: Replacement): void {
  const path = join(folder, file);
  const [before, after, ...more] = readFileSync(path, "utf8").split(from);
  if (before === undefined || after === undefined || more.length > 0) throw new Error(`${file} does not hold once: ${from}`);
  writeFileSync(path, before + to + after);
}
