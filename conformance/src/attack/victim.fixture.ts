import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { type Channel, createClient, createFlyteClient, type FlyteClient, openChannel, type ServiceClient } from "@flyte-ts/client";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { AuditService, RoleService, TokenService } from "@flyte-ts/idl/flytets/admin/v1/access_pb";
import { AttributeService } from "@flyte-ts/idl/flytets/admin/v1/attributes_pb";
import { ClusterService } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import { ErrorService } from "@flyte-ts/idl/flytets/admin/v1/error_groups_pb";
import { GraphService } from "@flyte-ts/idl/flytets/admin/v1/graph_pb";
import { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import { LiveService } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { MyAccessService } from "@flyte-ts/idl/flytets/admin/v1/my_access_pb";
import { NodeTableService } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";
import { NotificationService } from "@flyte-ts/idl/flytets/admin/v1/notification_pb";
import { OverviewService } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import { RetentionService } from "@flyte-ts/idl/flytets/admin/v1/retention_pb";
import { ScheduleService } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import { SearchService } from "@flyte-ts/idl/flytets/admin/v1/search_pb";
import { TriggerService } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import { type TokenIssuer, tokenIssuer } from "@flyte-ts/testing";
import { type RunningAdmin, startAdmin } from "../stack/admin-fixture.js";
import { identifier, launchPlanRequest, scope, taskRequest, workflowRequest } from "../api/valid-requests.js";
import { SERVICES } from "../api/rpc-samples.js";

/** All methods that admin serves to clients. */
export const METHODS: readonly DescMethod[] = [
  ...SERVICES,
  AuditService,
  RoleService,
  TokenService,
  AttributeService,
  ClusterService,
  ErrorService,
  GraphService,
  HistoryService,
  LiveService,
  MyAccessService,
  NodeTableService,
  NotificationService,
  OverviewService,
  RetentionService,
  ScheduleService,
  SearchService,
  TriggerService,
].flatMap(({ methods }): readonly DescMethod[] => methods);

/** Methods that need no token: a client reads them to sign in. */
export const OPEN_METHODS: readonly string[] = ["GetOAuth2Metadata", "GetPublicClientConfig"];

/** Methods that any role permits in any scope: they name no project. */
export const UNSCOPED_READS: readonly string[] = [
  "ListProjects",
  "GetDomains",
  "GetVersion",
  "GetAgent",
  "ListAgents",
  "UserInfo",
  "GetMyAccess",
];

/** Roles that the victim grants in {@link scope} only, to a subject of the same name. */
export const SCOPED_ROLES = ["viewer", "runner", "contributor", "engine", "admin"] as const;

/** Audience that tokens must name. */
export const AUDIENCE = "https://flyte.test";

/**
 * Admin that requires tokens of one issuer, with a project of another team beside the attacker's.
 */
export interface Victim {
  readonly admin: RunningAdmin;
  readonly issuer: TokenIssuer;
  /** A client with all permissions. */
  readonly root: FlyteClient;
  /** Issues a valid token for this subject; `claims` override the defaults. */
  tokenOf(subject: string, claims?: Readonly<Record<string, unknown>>): string;
  /** Creates a client of one service that calls as this subject; it closes with the victim. */
  clientFor<Service extends DescService>(subject: string, service: Service): ServiceClient<Service>;
  stop(): Promise<void>;
}

/**
 * Starts admin with authentication and registers what the requests of the suite refer to.
 *
 * @param settings further settings of admin
 */
export async function startVictim(settings: object = {}): Promise<Victim> {
  const issuer = await tokenIssuer({ audience: AUDIENCE });
  const roles = [
    ...SCOPED_ROLES.map((role) => ({ subject: role, role, project: scope.project, domain: scope.domain })),
    { subject: "root", role: "admin" },
  ];
  const auth = { mode: "required", publicUrl: AUDIENCE, providers: [{ issuer: issuer.issuer }], roles };
  const admin = await startAdmin(() => ({ auth, ...settings }));
  const tokenOf = (subject: string, claims: Readonly<Record<string, unknown>> = {}) => issuer.token({ sub: subject, ...claims });
  const metadata = async () => ({ authorization: `Bearer ${tokenOf("root")}` });
  const root = createFlyteClient({ endpoint: `127.0.0.1:${admin.api}`, metadata });
  await root.admin.registerProject({ project: { id: "other", name: "other" } });
  for (const project of [scope.project, "other"]) {
    await root.admin.createTask(taskRequest(identifier(ResourceType.TASK, { project })));
    await root.admin.createWorkflow(workflowRequest(identifier(ResourceType.WORKFLOW, { project }), { n0: [] }));
    await root.admin.createLaunchPlan(launchPlanRequest(identifier(ResourceType.LAUNCH_PLAN, { project })));
  }
  const channels: Channel[] = [];
  const as = <Service extends DescService>(subject: string, service: Service): ServiceClient<Service> => {
    const channel = openChannel({
      endpoint: `127.0.0.1:${admin.api}`,
      metadata: () => ({ authorization: `Bearer ${tokenOf(subject)}` }),
    });
    channels.push(channel);
    return createClient({ channel, service });
  };
  const stop = async () => {
    root.close();
    for (const channel of channels) channel.close();
    await admin.stop();
    await issuer.stop();
  };
  return { admin, issuer, root, tokenOf, clientFor: as, stop };
}
