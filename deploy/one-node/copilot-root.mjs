// Builds the root file system of the image `flyte-ts/copilot` for the node from this machine's Node
// and this build. Prints its folder, whose name changes with its content.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "../../scripts/prepare.mjs";

const cache = join(process.env.FLYTE_TS_CACHE ?? join(homedir(), ".cache", "flyte-ts"), "one-node");
mkdirSync(cache, { recursive: true });
const made = mkdtempSync(join(cache, "copilot-"));
const assemble = join(root, "deploy", "images", "assemble.mjs");
execFileSync(process.execPath, [assemble, "--service", "services/copilot", "--target", join(made, "app")], { stdio: "ignore" });
const node = execFileSync(process.execPath, ["-p", "process.execPath"], { encoding: "utf8" }).trim();
place(node, "/usr/local/bin/node");
for (const line of execFileSync("ldd", [node], { encoding: "utf8" }).split("\n")) {
  const library = /(\/\S+) \(0x/.exec(line)?.[1];
  if (library !== undefined) place(library, library);
}
for (const folder of ["tmp", "proc", "sys", "dev", "etc"]) mkdirSync(join(made, folder));

const sum = createHash("sha256");
for (const entry of readdirSync(made, { recursive: true, withFileTypes: true }).toSorted((a, b) => (path(a) < path(b) ? -1 : 1))) {
  if (entry.isFile()) sum.update(path(entry).slice(made.length)).update(readFileSync(path(entry)));
}
const kept = join(cache, `copilot-root-${sum.digest("hex").slice(0, 12)}`);
if (existsSync(kept)) rmSync(made, { recursive: true });
else {
  for (const old of readdirSync(cache)) if (old.startsWith("copilot-root-")) rmSync(join(cache, old), { recursive: true });
  renameSync(made, kept);
}
process.stdout.write(`${kept}\n`);

function place(from, to) {
  mkdirSync(dirname(join(made, to)), { recursive: true });
  copyFileSync(realpathSync(from), join(made, to));
}

function path(entry) {
  return join(entry.parentPath, entry.name);
}
