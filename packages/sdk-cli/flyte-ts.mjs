#!/usr/bin/env node
// `npx flyte-ts`: the author's verbs are here, those of the local stack and its services in
// @flyte-ts/stack, which an author need not have installed.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const AUTHOR_VERBS = ["init", "run", "dev", "check", "register", "package", "generate", "launch", "watch", "logs"];
const here = dirname(fileURLToPath(import.meta.url));
const argv = process.argv.slice(2);
const isAuthors = AUTHOR_VERBS.includes(argv[0]) || (argv[0] === "help" && AUTHOR_VERBS.includes(argv[1]));
const checkout = join(here, "../../scripts/prepare.mjs");

// The published package has no sources.
if (existsSync(join(here, "src/main.ts"))) {
  const { becomeCli, cli, ensureBuilt, ensureInstalled, nodeProgram, run } = await import(checkout);
  const own = join(here, "bundle/main.js");
  if (!existsSync(cli) || !existsSync(own)) {
    await ensureInstalled();
    await ensureBuilt();
  }
  const isHelp = argv.length === 0 || (["help", "--help"].includes(argv[0]) && argv.length === 1);
  if (isHelp) run(nodeProgram(), [own, "--help"]);
  // This process runs the author's verbs itself where it is the Node that they need.
  if (isAuthors && nodeProgram() === process.execPath) await import(own);
  else await becomeCli(argv, isAuthors ? own : cli);
} else {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 12)) {
    process.stderr.write(`flyte-ts: Node.js ${process.versions.node} is too old; 22.12 or newer is needed\n`);
    process.exit(1);
  }
  await import("./bundle/main.js");
}
