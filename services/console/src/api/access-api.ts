import { pathOf, type RestClient } from "@flyte-ts/client/browser";
import type { ProjectsJson } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import type { ListAuditEntriesResponseJson } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import type { GetMyAccessResponseJson } from "@flyte-ts/idl/flytets/admin/v1/my_access_pb";
import type { Scope } from "./scope.js";

export interface AccessApi {
  /** Subject and role of the caller in a project and domain. */
  getMyAccess(scope: Scope, signal: AbortSignal): Promise<GetMyAccessResponseJson>;
  listProjects(signal: AbortSignal): Promise<ProjectsJson>;
  /** Changes that callers requested, newest first. */
  listAuditEntries(scope: Scope, page: AuditPage, signal: AbortSignal): Promise<ListAuditEntriesResponseJson>;
}

/** A page of the audit log. */
export interface AuditPage {
  /** Empty: of all subjects. */
  readonly subject: string;
  readonly token?: string | undefined;
}

const AUDIT_ROWS = 200;

export function accessApi(rest: RestClient): AccessApi {
  return {
    getMyAccess: ({ project, domain }, signal) => rest.call(pathOf("api/v1/my_access", project, domain), { signal }),
    listProjects: (signal) => rest.call("/api/v1/projects", { query: { "sort_by.key": "name", "sort_by.direction": "ASCENDING" }, signal }),
    listAuditEntries: ({ project, domain }, { subject, token }, signal) =>
      rest.call("/api/v1/audit", { query: { project, domain, subject, limit: AUDIT_ROWS, token }, signal }),
  };
}
