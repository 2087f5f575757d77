import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type FlyteUrl, parseFlyteUrl } from "@flyte-ts/domain/identifier";
import { NodeExecutionIdentifierSchema, ResourceType, TaskExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { ArtifactType, CreateDownloadLinkRequestSchema, type GetDataResponseSchema } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { type DataDeps, readValues } from "../blobs/read-values.js";
import { checkNodeId, checkTaskId, nodeIdText, type TaskId } from "../model/identifier.js";
import { invalidArgument } from "../../platform/index.js";
import { findNodeWithValues } from "../store/node/find.js";
import { findTaskExecution, findTaskOfAttempt } from "../store/attempt/find.js";
import { createDownloadLink, type DownloadDeps } from "./download.js";

type Answer = MessageInitShape<typeof GetDataResponseSchema>;

/**
 * Resolves a flyte:// URL: all inputs or outputs of a node or of an attempt, one of them, or signed
 * URLs of a deck.
 *
 * @throws RpcError INVALID_ARGUMENT for an invalid URL, NOT_FOUND for an unknown node.
 */
export async function getData(deps: DataDeps & DownloadDeps, text: string): Promise<Answer> {
  if (text === "") throw invalidArgument("failed to validate resolve artifact request. Error: source is required. Provided empty string");
  if (!text.startsWith("flyte://")) {
    throw invalidArgument("failed to validate resolve artifact request. Error: request does not start with the correct prefix");
  }
  const url = parseFlyteUrl(text);
  if (url === undefined) throw invalidArgument(`failed to parse artifact url Error: failed to parse [${text}]`);
  if (url.kind === "deck") return deckOf(deps, url);
  return pick(url, url.attempt === undefined ? await nodeValues(deps, url) : await taskValues(deps, url));
}

function nodeIdOf({ project, domain, execution, node }: FlyteUrl) {
  const id = create(NodeExecutionIdentifierSchema, { nodeId: node, executionId: { project, domain, name: execution } });
  checkNodeId(id);
  return id;
}

async function deckOf(deps: DownloadDeps, url: FlyteUrl): Promise<Answer> {
  if (url.attempt !== undefined) throw invalidArgument("deck type cannot be specified with a retry attempt, just use the node instead");
  const request = create(CreateDownloadLinkRequestSchema, {
    artifactType: ArtifactType.DECK,
    source: { case: "nodeExecutionId", value: nodeIdOf(url) },
  });
  const { preSignedUrls } = await createDownloadLink(deps, request);
  return preSignedUrls === undefined ? {} : { data: { case: "preSignedUrls", value: preSignedUrls } };
}

async function nodeValues(deps: DataDeps, url: FlyteUrl): Promise<LiteralMap> {
  const row = await findNodeWithValues(deps.db, nodeIdOf(url));
  const at = url.kind === "inputs" ? { bytes: row.inputs, uri: row.input_uri } : { bytes: row.outputs, uri: row.output_uri };
  return (await readValues(deps, at)).values;
}

async function taskValues(deps: DataDeps, url: FlyteUrl): Promise<LiteralMap> {
  const row = await findTaskExecution(deps.db, await completeTaskId(deps, url));
  const at = url.kind === "inputs" ? { bytes: row.inputs, uri: row.input_uri } : { bytes: row.outputs, uri: row.output_uri };
  return (await readValues(deps, at)).values;
}

/**
 * Completes the id of an attempt: the URL names the node and the attempt, not the task that ran
 * there.
 */
async function completeTaskId({ db }: DataDeps, url: FlyteUrl): Promise<TaskId> {
  const nodeExecutionId = nodeIdOf(url);
  const execution = { project: url.project, domain: url.domain, name: url.execution };
  const task = await findTaskOfAttempt(db, execution, { nodeId: url.node, attempt: url.attempt });
  if (task === undefined)
    throw invalidArgument(`no task executions were listed [${nodeIdText(nodeExecutionId)} retry_attempt:${url.attempt}]`);
  const id = create(TaskExecutionIdentifierSchema, {
    taskId: { resourceType: ResourceType.TASK, ...task },
    nodeExecutionId,
    retryAttempt: url.attempt ?? 0,
  });
  checkTaskId(id);
  return id;
}

function pick({ variable, node }: FlyteUrl, values: LiteralMap): Answer {
  if (variable === undefined) return { data: { case: "literalMap", value: values } };
  const literal = Object.hasOwn(values.literals, variable) ? values.literals[variable] : undefined;
  if (literal === undefined) throw invalidArgument(`name [${variable}] not found in node execution [${node}]`);
  return { data: { case: "literal", value: literal } };
}
