import { create, toBinary } from "@bufbuild/protobuf";
import { ExecutionError_ErrorKind, ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ErrorColumns } from "@flyte-ts/execution-state";

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const namePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

export interface AdmissionInput {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly clusterLabel: string;
}

/**
 * Returns why Kubernetes would reject the resource; undefined if valid. createExecution accepts
 * such an execution and stores it as FAILED, as Flyte does.
 */
export function findAdmissionError({ name, annotations, clusterLabel }: AdmissionInput): string | undefined {
  if (clusterLabel !== "") return `execution cluster label ${clusterLabel} is not supported`;
  if (!subdomain.test(name))
    return `metadata.name: "${name}" must consist of lower case letters, digits and '-', and start and end with a letter or digit`;
  const bad = Object.keys(annotations).find((key) => !isAnnotationKey(key));
  return bad === undefined ? undefined : `metadata.annotations: "${bad}" must be a qualified name, such as example.org/name`;
}

function isAnnotationKey(key: string): boolean {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  return (
    name.length <= 63 && namePart.test(name) && (prefix === undefined || (prefix.length <= 253 && subdomain.test(prefix.toLowerCase())))
  );
}

/** Error of an execution that fails the admission check. */
export function admissionError(reason: string): ErrorColumns {
  const error = create(ExecutionErrorSchema, {
    code: "Internal",
    message: `failed to create workflow in propeller ${reason}`,
    kind: ExecutionError_ErrorKind.SYSTEM,
  });
  return { bytes: toBinary(ExecutionErrorSchema, error), kind: "SYSTEM", code: error.code };
}
