import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Registered name of the workflow. */
export const CHAIN_NAME = "chain.chain";
/** Node of the workflow by its place in the chain. */
export const NODE_PATTERN = /-n(\d+)-0$/;

const packages = fileURLToPath(new URL("../../../packages", import.meta.url));

/** Writes the project: each task passes a number on, and the times at which its function began. */
const chainSource = (size: number) => `import { t, task, workflow } from "@flyte-ts/sdk";

export const step = task(
  { inputs: { value: t.int, begun: t.list(t.int) }, outputs: { value: t.int, begun: t.list(t.int) } },
  ({ value, begun }) => ({ value: (value * 31 + 7) % 1_000_003, begun: [...begun, Date.now()] }),
);

export const chain = workflow({ inputs: { value: t.int }, outputs: { value: t.int, begun: t.list(t.int) } }, ({ value }) => {
  let last = step({ value, begun: [] });
  for (let count = 1; count < ${size}; count++) last = step({ value: last.value, begun: last.begun });
  return { value: last.value, begun: last.begun };
});
`;

/**
 * Registers a chain of TypeScript tasks.
 *
 * @returns its version
 */
export function registerChain(endpoint: string, size: number): string {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-bench-typescript-"));
  try {
    mkdirSync(join(folder, "flows"));
    mkdirSync(join(folder, "node_modules", "@flyte-ts"), { recursive: true });
    symlinkSync(join(packages, "sdk"), join(folder, "node_modules", "@flyte-ts", "sdk"));
    const config = { project: "flytesnacks", domain: "development", endpoint, sources: ["flows/*.ts"] };
    writeFileSync(join(folder, "flyte.config.ts"), `export default ${JSON.stringify(config)};\n`);
    writeFileSync(join(folder, "flows", "chain.ts"), chainSource(size));
    const program = join(packages, "sdk-cli", "bundle", "main.js");
    const { stdout, stderr } = spawnSync(process.execPath, [program, "register"], { cwd: folder, encoding: "utf8" });
    const version = /version (\S+?)(?:,|\n)/.exec(stdout)?.[1];
    if (version === undefined) throw new Error(`the chain was not registered:\n${stdout}\n${stderr}`);
    return version;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
