import { type Project, Project_ProjectState } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { checkLabels, checkText, invalidArgument } from "../../platform/index.js";

const MAX_NAME = 64;
const MAX_DESCRIPTION = 300;
const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/**
 * Validates a new or changed project.
 *
 * @throws RpcError INVALID_ARGUMENT naming the field and its rule.
 */
export function checkProject(project: Project): void {
  checkText(project.id, "project_id");
  checkLabels(project.labels);
  if (project.id.length > 63 || !dnsLabel.test(project.id)) {
    throw invalidArgument(
      `invalid project id [${project.id}]: it must be a DNS label: at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit`,
    );
  }
  checkLength(project.name, "project_name", MAX_NAME);
  checkLength(project.description, "project_description", MAX_DESCRIPTION);
  if (project.domains.length > 0) {
    throw invalidArgument("domains: Domains are currently only set system wide. Please retry without domains included in your request.");
  }
  if (Project_ProjectState[project.state] === undefined) throw invalidArgument(`invalid value for state: ${project.state} is unknown`);
}

function checkLength(text: string, field: string, limit: number): void {
  if (text.includes("\0")) throw invalidArgument(`invalid value for ${field}: NUL characters are not allowed`);
  // Bytes of UTF-8, as in Flyte.
  if (Buffer.byteLength(text) > limit) throw invalidArgument(`${field} cannot exceed ${limit} characters`);
}
