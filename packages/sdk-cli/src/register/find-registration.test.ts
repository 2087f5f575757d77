import type { FlyteClient } from "@flyte-ts/client";
import type { ListedEntity } from "@flyte-ts/runtime/describe";
import { expect, test } from "vitest";
import type { Project } from "../project/project.js";
import { isRegistered } from "./find-registration.js";

interface Row {
  readonly name: string;
  readonly version: string;
}

interface ListRequest {
  readonly id: { readonly project: string; readonly domain: string };
  readonly limit: number;
  readonly token: string;
  readonly filters: string;
}

const SCOPE = { project: "p", domain: "d" } as Project;

/** Serves lists in pages of two rows, as a server with a low limit does. */
function serverWith(rows: Readonly<Record<"tasks" | "workflows" | "launchPlans", readonly Row[]>>) {
  const requests: ListRequest[] = [];
  const list = (kind: keyof typeof rows) => async (request: ListRequest) => {
    requests.push(request);
    const matching = rows[kind].filter(({ version }) => request.filters === `eq(version,${version})`);
    const begin = Number(request.token || "0");
    const token = begin + 2 < matching.length ? String(begin + 2) : "";
    return { [kind]: matching.slice(begin, begin + 2).map((id) => ({ id })), token };
  };
  const admin = { listTasks: list("tasks"), listWorkflows: list("workflows"), listLaunchPlans: list("launchPlans") };
  return { client: { admin } as unknown as FlyteClient, requests };
}

const entity = (kind: ListedEntity["kind"], name: string) => ({ kind, name }) as ListedEntity;
const entities = [
  ...["a", "b", "c"].map((name) => entity("task", name)),
  entity("workflow", "w"),
  entity("launchplan", "w"),
  entity("reference", "elsewhere"),
];
const row = (name: string, version = "1"): Row => ({ name, version });
const complete = { tasks: [row("a"), row("b"), row("c")], workflows: [row("w")], launchPlans: [row("w")] };

test("entities are found by one list of each kind, over its pages", async () => {
  const { client, requests } = serverWith(complete);
  expect(await isRegistered(client, SCOPE, { entities, version: "1" })).toBe(true);
  expect(requests.map(({ token }) => token).toSorted()).toEqual(["", "", "", "2"]);
  expect(requests.every(({ id }) => id.project === "p" && id.domain === "d")).toBe(true);
});

test.each([
  ["a task", { ...complete, tasks: [row("a"), row("b")] }],
  ["a workflow", { ...complete, workflows: [] }],
  ["a launch plan", { ...complete, launchPlans: [row("other")] }],
  ["the version of one", { ...complete, tasks: [row("a"), row("b"), row("c", "2")] }],
])("a server that lacks %s lacks the registration", async (_part, rows) => {
  expect(await isRegistered(serverWith(rows).client, SCOPE, { entities, version: "1" })).toBe(false);
});

test("another version is not registered", async () => {
  expect(await isRegistered(serverWith(complete).client, SCOPE, { entities, version: "2" })).toBe(false);
});
