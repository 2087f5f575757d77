import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../repository.js";
import { commandProblem, documentedCommands, missingPaths } from "./documented-commands.js";
import { trackedFiles } from "./tracked-files.js";

const documents = trackedFiles("*.md").map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));
/** Decisions and the changelog describe the past: paths in them may have gone. */
const current = documents.filter(({ file }) => !/^docs\/decisions\/\d|^CHANGELOG\.md$/.test(file));

test("every command line of npm, npx, node and flyte-ts in a document names a script, a command, flags and files that exist", () => {
  const commands = documents.flatMap(({ file, text }) => documentedCommands(text).map((line) => ({ file, line })));
  expect(commands.length).toBeGreaterThan(80);
  expect(
    commands.flatMap(({ file, line }) => (commandProblem(line) === undefined ? [] : `${file}: ${line}: ${commandProblem(line)}`)),
  ).toEqual([]);
});

test("every path of the repository in a document exists", () => {
  expect(current.flatMap(({ file, text }) => missingPaths(text).map((path) => `${file}: ${path}`))).toEqual([]);
});

test("command lines are found in code blocks and inline code", () => {
  const text =
    "`npm test` and `text`\n```\n$ A=b sudo node scripts/x.mjs   # comment\nflyte-ts backup --to DIR \\\n  --kubeconfig FILE\ncurl x\n```\n";
  expect(documentedCommands(text)).toEqual(["node scripts/x.mjs", "flyte-ts backup --to DIR --kubeconfig FILE", "npm test"]);
});

test.each([
  ["npm run missing", "package.json has no script missing"],
  ["npm test -- services/missing", "no test matches services/missing"],
  ["npm run nightly -- missing", "scripts/nightly.mjs has no part missing"],
  ["npm start -- --missing", "flyte-ts start has no flag --missing"],
  ["npx flyte-ts missing", "flyte-ts has no command missing"],
  ["npx --prefix ../clone flyte-ts logs --no-missing", "flyte-ts logs has no flag --missing"],
  ["node scripts/missing.mjs", "scripts/missing.mjs does not exist"],
])("the command line %s is reported", (line, problem) => {
  expect(commandProblem(line)).toBe(problem);
});

test.each([
  "npm ci --omit=optional",
  "npm test -- services/propeller",
  "npx flyte-ts logs --no-follow",
  "npx flyte-ts dev FILE EXPORT [--INPUT VALUE…]",
  "node services/admin/dist/accounts/main.js",
])("the command line %s is accepted", (line) => {
  expect(commandProblem(line)).toBeUndefined();
});

test("a path that does not exist is reported", () => {
  expect(missingPaths("`packages/missing` `packages/cli` `packages/NAME/src` `services/*`")).toEqual(["packages/missing"]);
});
