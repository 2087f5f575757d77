#!/usr/bin/env node
// `npx flyte-ts` in a checkout: the CLI as it was built; built first where it never was.
import { existsSync } from "node:fs";
import { becomeCli, cli, ensureBuilt, ensureInstalled } from "../../scripts/prepare.mjs";

if (!existsSync(cli)) {
  await ensureInstalled();
  await ensureBuilt();
}
await becomeCli(process.argv.slice(2));
