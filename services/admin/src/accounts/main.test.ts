import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { splitArguments } from "./split-arguments.js";

const main = join(import.meta.dirname, "..", "..", "dist", "accounts", "main.js");

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("the accounts program", () => {
  test.each([[[]], [["--help"]], [["help"]], [["user", "ann", "--help"]]])("prints its help for %j", (args) => {
    const { status, stdout, stderr } = run(...args);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^usage: accounts ACTION [^]*\n {2}drop-keys DAYS\n[^]*--database\.url URL[^]*\nexit status: 0 done, .*\n$/);
    expect(stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });

  test.each([
    [["nosuch"], /^accounts: unknown action "nosuch"; .*\n$/],
    [["--config", "/dev/null"], /^accounts: the action is missing; .*\n$/],
    [["drop-keys", "soon"], /^accounts: drop-keys: DAYS must be .*\n$/],
    [["rotate-key", "--databse.url", "x"], /^configuration of admin: databse: unknown setting; did you mean database\?\n$/],
    [["rotate-key", "--config"], /^flag --config needs a value\n$/],
    [["rotate-key", "--config", "/nowhere.yaml"], /^configuration file \/nowhere\.yaml: .*\n$/],
  ])("rejects %j in one line with status 2", (args, line) => {
    expect(run(...args)).toEqual({ status: 2, stdout: "", stderr: expect.stringMatching(line) });
  });

  test("reports an unreachable database in one line with status 1", () => {
    const { status, stderr } = run("rotate-key", "--database.url", "postgresql://x@127.0.0.1:1/a");
    expect([status, stderr]).toEqual([1, "accounts: connect ECONNREFUSED 127.0.0.1:1\n"]);
  });
});

test("flags may stand before, between and after the words of a command", () => {
  expect(splitArguments(["--config", "a.yaml", "user", "--database.url=x", "ann", "--help", "Ann"])).toEqual({
    words: ["user", "ann", "Ann"],
    flags: ["--config", "a.yaml", "--database.url=x", "--help"],
  });
});
