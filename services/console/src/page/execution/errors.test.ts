import { expect, test } from "vitest";
import { firstFailedItem } from "./array-failure.js";
import { copyTexts } from "./copy-items.js";
import { errorTitle } from "../../format/error-title.js";
import { errorGroups } from "./error-groups.js";
import { settingsOf } from "./settings-facts.js";
import { shownTab } from "./shown-tab.js";
import { splitTraceback } from "./traceback.js";
import { executionPhaseLook } from "../../format/phase.js";
import { nodeTitle } from "./node-title.js";
import { webLink } from "./web-link.js";

const TRACEBACK = `Traceback (most recent call last):
  File "/root/.venv/lib/python3.11/site-packages/flytekit/core/base_task.py", line 769, in dispatch_execute
    native_outputs = self.execute(**native_inputs)
  File "/root/training/fit.py", line 88, in fit_region
    frame = require_complete(frame, limit=500)
            ^^^^^^^^^^^^^^^^
ValueError: column 'temperature' has 3,214 missing values
`;

test("groups of the server are kinds of error; without one the execution's own error is", () => {
  const groups = [
    {
      code: "C",
      kind: "USER" as const,
      message: "ValueError: bad",
      count: 3,
      nodes: [{ id: "n0", task: "flow.map_fit_0123456789abcdef0123456789abcdef" }, { id: "n1" }],
    },
  ];
  expect(errorGroups({ groups }, {})).toMatchObject([
    {
      title: "ValueError: bad",
      code: "C",
      count: 3,
      failures: [
        { node: "n0", task: "fit" },
        { node: "n1", task: "" },
      ],
    },
  ]);
  const own = { closure: { error: { code: "Bad", message: "no such task" } } };
  expect(errorGroups({}, own)).toMatchObject([{ title: "no such task", count: 1, failures: [{ node: undefined }] }]);
  expect(errorGroups({}, {})).toEqual([]);
});

test.each([
  ["[1]: Trace:", "1"],
  ["[3-5][9]: it is damaged", "3"],
  ["[1/1] task timed out", undefined],
  ["the array failed: [1]", undefined],
])("the error of an array, %s, names the item %s first", (message, item) => expect(firstFailedItem(message)).toBe(item));

test("the title is the last exception, else the exit code with the last line of output, else the first line", () => {
  expect(errorTitle(TRACEBACK, "")).toBe("ValueError: column 'temperature' has 3,214 missing values");
  expect(errorTitle("\n [1/1] task timed out\nmore", "")).toBe("[1/1] task timed out");
  expect(errorTitle(`Trace:\n\n  ${TRACEBACK.slice(0, 100)}`, "USER:RuntimeError")).toBe("RuntimeError");
  const exit = "[1/1] currentAttempt done. Last Error: USER::[a-n0-0] terminated with exit code (3). Reason [Error]. Message: \n";
  expect(errorTitle(`${exit}reading\nno disk\n.`, "")).toBe("Exit code 3: no disk");
  expect(errorTitle(`${exit}.`, "")).toBe("Exit code 3");
  expect(errorTitle(`${exit}${TRACEBACK}`, "")).toBe("ValueError: column 'temperature' has 3,214 missing values");
  expect([errorTitle("", "CODE"), errorTitle("", "")]).toEqual(["CODE", "No message"]);
});

test("frames of libraries are parts of their own, and no line is lost", () => {
  const parts = splitTraceback(TRACEBACK);
  expect(parts.map(({ kind, libraries, lines }) => [kind, libraries.join(), lines.length])).toEqual([
    ["text", "", 1],
    ["foreign", "flytekit", 2],
    ["text", "", 4],
  ]);
  expect(`${parts.flatMap(({ lines }) => lines).join("\n")}\n`).toBe(TRACEBACK);
});

test("a failed execution opens at its errors, another at its timeline, and a chosen view stays", () => {
  const tabs = (["FAILED", "TIMED_OUT", "RUNNING", "SUCCEEDED", "ABORTED"] as const).map((phase) =>
    shownTab("auto", executionPhaseLook(phase)),
  );
  expect(tabs).toEqual(["errors", "errors", "timeline", "timeline", "timeline"]);
  expect([shownTab("io", executionPhaseLook("FAILED")), shownTab("auto", undefined)]).toEqual(["io", undefined]);
});

test("only links to the web are links", () => {
  expect(["https://a/b?c", "http://a", "javascript:alert(1)", "data:text/html,x", "a/b", undefined].map(webLink)).toEqual([
    "https://a/b?c",
    "http://a/",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("copied texts name the execution", () => {
  const texts = copyTexts({ project: "p", domain: "d", name: "e" }, "https://host");
  expect(texts["Link"]).toBe("https://host/console/projects/p/domains/d/executions/e");
  expect(texts["curl"]).toBe("curl https://host/api/v1/executions/p/d/e");
});

test("settings that are not set are left out", () => {
  const [run, ...others] = settingsOf({ spec: { maxParallelism: 25, labels: { values: { team: "x" } } } });
  expect(run?.facts).toContainEqual(["Tasks at once", "25"]);
  expect(others).toEqual([{ title: "Labels", facts: [["team", "x"]] }]);
});

test("a failed node is told by its task and its id, by its id alone before its attempts are known", () => {
  const attempts = [{ id: { taskId: { name: "training.fit.fit_region" } } }];
  expect(["n0", "n1", "n2"].map((node, at) => nodeTitle(node, [attempts, [], undefined][at]))).toEqual(["fit_region · n0", "n1", "n2"]);
});
