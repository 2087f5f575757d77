import { executionNamespace } from "@flyte-ts/domain";
import { type WorkflowExecutionIdentifier, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { Field } from "./read.js";

/**
 * Checks that a resource belongs to the execution of its own name and namespace, and that its folders are those of that
 * execution. A user who may write resources in one namespace must not act for executions of another. Labels are not
 * compared: Go FlyteAdmin lets users set them, and the model replaces them by those of the resource's own execution
 * (`ownLabels`).
 *
 * @param namespaceTemplate template of the namespace of a project and domain, as for `executionNamespace`.
 * @throws WorkflowFormatError that names the field and the rule.
 */
export function checkIdentity(json: unknown, namespaceTemplate: string): void {
  const root = new Field(json, "resource");
  const metadata = root.at("metadata");
  const executionId = root.at("executionId");
  const id = executionId.message(WorkflowExecutionIdentifierSchema);
  mustBe(executionId.at("name"), metadata.at("name").string(), "the name of the resource");
  const namespace = metadata.at("namespace").string();
  const own = executionNamespace(id.project, id.domain, namespaceTemplate);
  if (own !== namespace)
    throw executionId.error(`names an execution of namespace ${JSON.stringify(own)}, the resource is in ${JSON.stringify(namespace)}`);
  checkFolders(root, id);
  checkRecovery(root.at("executionConfig"), id);
}

/** Propeller reads outputs from the execution being recovered. */
function checkRecovery(config: Field, { project, domain }: WorkflowExecutionIdentifier): void {
  if (config.absent) return;
  const recovery = config.at("RecoveryExecution");
  if (recovery.absent || Object.keys(recovery.object()).length === 0) return;
  for (const [key, value] of Object.entries({ project, domain })) mustBe(recovery.at(key), value, `the ${key} of executionId`);
}

/** Propeller writes below the data folder and to slices, and reads the inputs. */
function checkFolders(root: Field, { project, domain, name }: WorkflowExecutionIdentifier): void {
  const dataFolder = `${project}-${domain}-${name}`;
  root.at("offloadedInputs").optional((field) => mustHave(field, [project, domain, name]));
  const status = root.at("status");
  if (status.absent) return;
  status.at("dataDir").optional((field) => mustHave(field, [dataFolder]));
  status.at("slices").optional((slices) => slices.at("prefix").optional((field) => mustHave(field, [dataFolder])));
}

function mustBe(field: Field, wanted: string, rule: string): void {
  if (field.value !== wanted)
    throw field.error(`must be ${JSON.stringify(wanted)}, ${rule}, is ${JSON.stringify(field.value) ?? "not there"}`);
}

/** Requires these consecutive folders in the address. */
function mustHave(address: Field, folders: readonly string[]): void {
  const parts = address.text().split("/");
  if (parts.length === 1 && parts[0] === "") return;
  const found = parts.some((_, start) => folders.every((folder, index) => parts[start + index] === folder));
  if (!found || parts.includes("..")) throw address.error(`must be an address below the folder ${folders.join("/")} of the execution`);
}
