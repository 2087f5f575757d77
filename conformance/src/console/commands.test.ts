import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { findChromium } from "@flyte-ts/test-servers";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findUnmodifiedFlytectl } from "../clients/flytectl.js";
import { ExampleRuns, scope } from "../examples/example-runs.js";
import { root } from "../repository.js";
import { builtProgram } from "../stack/built-program.js";
import { openWatchedPage, startBrowser } from "./fixtures/console-browser.fixture.js";

// Runs the commands that the launch page shows with unmodified clients, and compares the inputs
// that arrive. `npm run nightly -- console-commands` runs it.
const chromium = findChromium();
const isFull = process.env["CONSOLE_COMMANDS"] === "full";
const { program: flytectl, missing: noFlytectl } = isFull ? await findUnmodifiedFlytectl() : { program: "", missing: "short run" };

/** Command of the repository, which is not installed in the folder of the stack. */
const FLYTE_TS = builtProgram(join(root, "packages/sdk-cli"));

/** Names the programs of a command by their files. */
const withPrograms = (command: string): string =>
  command.replace("npx flyte-ts", `${process.execPath} ${FLYTE_TS}`).replace(/^flytectl /m, `${flytectl} `);

interface Case {
  readonly query: string;
  readonly filter: string;
  fill(page: Page): Promise<void>;
}

const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const CASES: Readonly<Record<string, Case>> = {
  "times and durations": {
    query: "wf=python.datatypes.times",
    filter: "eq(launch_plan.name,python.datatypes.times)",
    async fill(page) {
      await field(page, "start").fill("2026-11-14 08:30:00.250");
      await field(page, "by").fill("1h 30m");
    },
  },
  "texts and lists": {
    query: "wf=python.datatypes.unions",
    filter: "eq(launch_plan.name,python.datatypes.unions)",
    async fill(page) {
      await field(page, "text").fill(`it's "quoted" $HOME`);
      await page.getByRole("button", { name: "Add" }).click();
      await field(page, "numbers 1").fill("-7");
    },
  },
  "an optional value of a task": {
    query: "task=python.datatypes.maybe",
    filter: "eq(task.name,python.datatypes.maybe)",
    async fill(page) {
      await page.getByRole("button", { name: "integer" }).click();
      await field(page, "value").fill("5");
    },
  },
  "a union of a task": {
    query: "task=python.datatypes.describe",
    filter: "eq(task.name,python.datatypes.describe)",
    async fill(page) {
      await page.getByRole("button", { name: "string" }).click();
      await field(page, "value").fill("5");
    },
  },
  "a struct": {
    query: "wf=python.example.training_workflow",
    filter: "eq(launch_plan.name,python.example.training_workflow)",
    fill: (page) => field(page, "hyperparameters as JSON").fill('{"C": 0.5, "max_iter": 100}'),
  },
  "a file": {
    query: "task=python.files.write_folder",
    filter: "eq(task.name,python.files.write_folder)",
    async fill(page) {
      await field(page, "file").fill("s3://my-s3-bucket/note.txt");
      await field(page, "copies").fill("2");
    },
  },
};

describe.runIf(chromium !== undefined && isFull)("commands of the launch page", { timeout: 600_000 }, () => {
  let runs: ExampleRuns;
  let browser: Browser;
  beforeAll(async () => {
    [runs, browser] = await Promise.all([ExampleRuns.start(), startBrowser(chromium ?? "")]);
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await runs?.close();
  }, 60_000);

  /** Runs a command of the page, and returns the inputs of the execution that it started. */
  async function start(client: string, command: string, filter: string): Promise<unknown> {
    const { pythonBin } = runs.stack;
    const [program, args] = client === "Python" ? [`${pythonBin}/python`, ["-W", "ignore", "-"]] : ["bash", ["-e", "-s"]];
    const PATH = `${pythonBin}:${process.env["PATH"] ?? ""}`;
    const env = { ...process.env, PATH, TERM: "dumb", HOME: runs.stack.folder };
    const { status, stdout, stderr } = spawnSync(program, args, {
      input: withPrograms(command),
      encoding: "utf8",
      env,
      cwd: runs.stack.folder,
    });
    if (status !== 0) throw new Error(`${client} ended with ${status}:\n${command}\n${stdout}\n${stderr}`);
    const sortBy = { key: "created_at", direction: 0 };
    const { executions } = await runs.client.admin.listExecutions({ id: scope, limit: 1, filters: filter, sortBy });
    const { fullInputs } = await runs.client.admin.getExecutionData({ id: executions[0]?.id });
    return fullInputs === undefined ? {} : comparable(toJson(LiteralMapSchema, fullInputs));
  }

  test.each(Object.entries(CASES))("%s", async (_, { query, filter, fill }) => {
    const { page, open, close } = await openWatchedPage(browser, `http://localhost:${runs.stack.api}`, { timezoneId: "UTC" });
    page.setDefaultTimeout(90_000);
    try {
      await open(`/projects/${scope.project}/domains/${scope.domain}/launch?${query}`);
      await page.getByText("How it runs").waitFor();
      await fill(page);
      const commandOf = async (client: string): Promise<string> => {
        await page.getByRole("tab", { name: client, exact: true }).click();
        return (await page.getByRole("tabpanel").textContent()) ?? "";
      };
      const expected = await start("curl", await commandOf("curl"), filter);
      for (const client of ["pyflyte", "Python", "flyte-ts", ...(noFlytectl === undefined ? ["flytectl"] : [])]) {
        const command = await commandOf(client);
        // The page says which values a client cannot be given.
        if (/# .*(cannot be given|has no place for)/.test(command)) continue;
        expect([client, await start(client, command, filter)]).toEqual([client, expected]);
      }
    } finally {
      await close();
    }
  });
});

/** Types of union values differ in what clients write of them besides their tag. */
function comparable(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, each: unknown) => {
      const { structure } = (typeof each === "object" && each !== null ? each : {}) as { readonly structure?: { readonly tag?: string } };
      return key === "type" && structure?.tag !== undefined ? structure.tag : each;
    }),
  );
}
