import { executionNamespace } from "@flyte-ts/domain/name";
import { type WorkflowExecutionIdentifier, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { Field } from "./field.js";

/**
 * Checks that a resource belongs to the execution of its own name and namespace, and that its
 * folders are those of that execution. A user who may write resources in one namespace must not act
 * for executions of another. Labels are not compared: Go FlyteAdmin lets users set them, and the
 * model replaces them by those of the resource's own execution (`identityLabels`).
 *
 * @param namespaceTemplate template of the namespace of a project and domain, as for
 *   `executionNamespace`.
 * @throws WorkflowFormatError that names the field and the rule.
 */
export function checkIdentity(json: unknown, namespaceTemplate: string): void {
  const root = new Field(json, "resource");
  const metadata = root.at("metadata");
  const executionId = root.at("executionId");
  const id = executionId.message(WorkflowExecutionIdentifierSchema);
  requireEqual(executionId.at("name"), metadata.at("name").string(), "the name of the resource");
  const namespace = metadata.at("namespace").string();
  const expectedNamespace = executionNamespace(id.project, id.domain, namespaceTemplate);
  if (expectedNamespace !== namespace)
    throw executionId.error(
      `names an execution of namespace ${JSON.stringify(expectedNamespace)}, the resource is in ${JSON.stringify(namespace)}`,
    );
  checkStoragePaths(root, id);
  checkRecoveryExecution(root.at("executionConfig"), id);
}

/** Propeller reads outputs from the execution being recovered. */
function checkRecoveryExecution(config: Field, { project, domain }: WorkflowExecutionIdentifier): void {
  if (config.isAbsent) return;
  const recovery = config.at("RecoveryExecution");
  if (recovery.isAbsent || Object.keys(recovery.object()).length === 0) return;
  for (const [key, value] of Object.entries({ project, domain })) requireEqual(recovery.at(key), value, `the ${key} of executionId`);
}

/** Propeller writes below the data folder and to slices, and reads the inputs. */
function checkStoragePaths(root: Field, { project, domain, name }: WorkflowExecutionIdentifier): void {
  const dataDir = `${project}-${domain}-${name}`;
  root.at("offloadedInputs").optional((field) => requirePathSegments(field, [project, domain, name]));
  const status = root.at("status");
  if (status.isAbsent) return;
  status.at("dataDir").optional((field) => requirePathSegments(field, [dataDir]));
  status.at("slices").optional((slices) => slices.at("prefix").optional((field) => requirePathSegments(field, [dataDir])));
}

function requireEqual(field: Field, expected: string, rule: string): void {
  if (field.value !== expected)
    throw field.error(`must be ${JSON.stringify(expected)}, ${rule}, is ${JSON.stringify(field.value) ?? "absent"}`);
}

/** Requires these consecutive folders in the address. */
function requirePathSegments(uriField: Field, segments: readonly string[]): void {
  const parts = uriField.stringOrEmpty().split("/");
  if (parts.length === 1 && parts[0] === "") return;
  const contains = parts.some((_, start) => segments.every((segment, index) => parts[start + index] === segment));
  if (!contains || parts.includes("..")) throw uriField.error(`must be a URI below the directory ${segments.join("/")} of the execution`);
}
