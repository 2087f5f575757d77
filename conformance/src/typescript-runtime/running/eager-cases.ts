import { readFileSync } from "node:fs";
import type { FlyteClient } from "@flyte-ts/client";
import { integerLiteral, literalMap } from "@flyte-ts/domain/literal";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ArtifactType } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ExecutionName } from "../../stack/executions.js";
import type { RunningStack } from "../../stack/stack-fixture.js";
import { type TypeScriptProject, typeScriptProject, versionIn } from "../project.js";
import type { ProjectStack } from "./project-stack.fixture.js";
import { start, waitFor } from "../registered-executions.js";

/** An eager task, whose calls are executions of their own, loses its pod or is aborted. */
export function eagerCases(running: () => ProjectStack): void {
  let stack: RunningStack;
  let client: FlyteClient;
  let project: TypeScriptProject;
  let version: string;

  beforeAll(() => {
    ({ stack, client } = running());
    project = typeScriptProject(running().endpoint);
    version = versionIn(project.run("register"));
  }, 400_000);
  afterAll(() => project?.remove());

  const begin = (seconds: number) =>
    start(client, { name: "waiting.sums", version, inputs: literalMap([["seconds", integerLiteral(BigInt(seconds))]]) });

  /** Lists the phases of the children of an execution, by their names. */
  async function children({ project: name, domain, name: parent }: ExecutionName): Promise<ReadonlyMap<string, string>> {
    const { executions } = await client.admin.listExecutions({ id: { project: name, domain }, limit: 100 });
    const own = executions.filter(({ spec }) => spec?.tags.includes(`eager-exec:${parent}`));
    return new Map(own.map(({ id, closure }) => [id?.name ?? "", WorkflowExecution_Phase[closure?.phase ?? 0] ?? ""]));
  }

  const phasesOf = async (id: ExecutionName) => [...(await children(id)).values()].toSorted();
  async function bothRun(id: ExecutionName): Promise<void> {
    await expect.poll(() => phasesOf(id), { timeout: 120_000 }).toEqual(["RUNNING", "RUNNING"]);
  }

  /** Deletes the pod of an execution's only task. */
  async function deletePod({ name }: ExecutionName): Promise<void> {
    const server = /server: (\S+)/.exec(readFileSync(stack.kubeconfig, "utf8"))?.[1] ?? "";
    const pods = `${server}/api/v1/namespaces/flytesnacks-development/pods`;
    const list = (await (await fetch(`${pods}?labelSelector=execution-id%3D${name}`)).json()) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    expect(list.items.length).toBe(1);
    for (const { metadata } of list.items) expect((await fetch(`${pods}/${metadata.name}`, { method: "DELETE" })).ok).toBe(true);
  }

  /** Returns the deck of an execution's only node. */
  async function deckOf(executionId: ExecutionName): Promise<string> {
    const { nodeExecutions } = await client.admin.listNodeExecutions({ workflowExecutionId: executionId, limit: 10 });
    const node = nodeExecutions.find(({ closure }) => (closure?.deckUri ?? "") !== "");
    if (node?.id === undefined) throw new Error("no node has a deck");
    const source = { case: "nodeExecutionId" as const, value: node.id };
    const { preSignedUrls } = await client.dataProxy.createDownloadLink({ artifactType: ArtifactType.DECK, source });
    return (await fetch(preSignedUrls?.signedUrl[0] ?? "")).text();
  }

  test("a retried attempt attaches to the children of the one before", async () => {
    const id = await begin(20);
    await bothRun(id);
    const before = await children(id);
    await deletePod(id);
    const ended = await waitFor(client, id);
    expect([ended.phase, ended.error]).toEqual(["SUCCEEDED", ""]);
    expect(ended.attempts.length).toBe(2);
    const after = await children(id);
    expect([...after.values()]).toEqual(["SUCCEEDED", "SUCCEEDED", "SUCCEEDED"]);
    expect([...after.keys()]).toEqual(expect.arrayContaining([...before.keys()]));
    const { fullOutputs } = await client.admin.getExecutionData({ id });
    expect(fullOutputs?.literals["o0"]).toEqual(integerLiteral(300n));
    const deck = await deckOf(id);
    for (const child of after.keys()) expect(deck).toContain(`/console/projects/flytesnacks/domains/development/executions/${child}"`);
    expect(deck).toContain("an earlier attempt");
  }, 500_000);

  test("an abort ends the children", async () => {
    const id = await begin(600);
    await bothRun(id);
    await client.admin.terminateExecution({ id, cause: "not wanted" });
    await expect.poll(() => phasesOf(id), { timeout: 30_000 }).toEqual(["ABORTED", "ABORTED"]);
  }, 500_000);
}
