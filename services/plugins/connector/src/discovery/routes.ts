import type { AnnouncedType } from "./announced-types.js";

export interface RouteInput {
  /** In the order of the configuration. */
  readonly endpoints: readonly RoutedEndpoint[];
  /** Endpoint → what it announced last. */
  readonly announced: ReadonlyMap<string, readonly AnnouncedType[]>;
  /** Task type → endpoint, by the configuration. */
  readonly explicit: Readonly<Record<string, string>>;
  /** Task types of other plugin services. */
  readonly others: ReadonlySet<string>;
  readonly excluded: readonly string[];
  /** False: an announced type is not routed yet, since another plugin service may have it. */
  readonly mayTake: (taskType: string) => boolean;
}

export interface RoutedEndpoint {
  readonly name: string;
  readonly taskTypes?: readonly string[] | undefined;
  readonly excludedTaskTypes: readonly string[];
}

export interface Route {
  readonly endpoint: string;
  readonly isSync: boolean;
}

/** Endpoints of one task type. */
export interface TypeRoutes {
  readonly versions: ReadonlyMap<number, Route>;
  /** Route for every version of an explicit type that its endpoint does not announce. */
  readonly anyVersion?: Route | undefined;
  /** Endpoint of an explicit type that has not answered yet. */
  readonly unanswered?: string | undefined;
}

/** Two endpoints announce one task type and version. */
export interface RouteConflict {
  readonly taskType: string;
  readonly version: number;
  readonly chosen: string;
  readonly ignored: string;
}

export interface Routes {
  readonly types: ReadonlyMap<string, TypeRoutes>;
  readonly conflicts: readonly RouteConflict[];
  /** Announced task types that are left to other plugin services. */
  readonly leftToOthers: readonly string[];
  /** Explicit task types that another plugin service serves as well. */
  readonly contested: readonly string[];
}

export const NO_ROUTES: Routes = { types: new Map(), conflicts: [], leftToOthers: [], contested: [] };

/**
 * Assigns task types to endpoints. Explicit types of the configuration have precedence. Announced
 * types follow in the order of the endpoints, except those of other plugin services.
 */
export function buildRoutes(input: RouteInput): Routes {
  const { endpoints, announced, explicit, others, excluded, mayTake } = input;
  const types = new Map<string, TypeRoutes & { readonly versions: Map<number, Route> }>();
  const conflicts: RouteConflict[] = [];
  const leftToOthers = new Set<string>();
  for (const [taskType, endpoint] of Object.entries(explicit))
    types.set(taskType, explicitRoutes(taskType, endpoint, announced.get(endpoint)));
  for (const endpoint of endpoints) {
    for (const { taskType, version, isSync } of announced.get(endpoint.name) ?? []) {
      if (taskType in explicit || excluded.includes(taskType) || !mayServe(endpoint, taskType) || !mayTake(taskType)) continue;
      if (others.has(taskType)) {
        leftToOthers.add(taskType);
        continue;
      }
      const routes = types.get(taskType) ?? { versions: new Map<number, Route>() };
      types.set(taskType, routes);
      const chosen = routes.versions.get(version)?.endpoint;
      if (chosen === undefined) routes.versions.set(version, { endpoint: endpoint.name, isSync });
      else conflicts.push({ taskType, version, chosen, ignored: endpoint.name });
    }
  }
  const contested = Object.keys(explicit).filter((taskType) => others.has(taskType));
  return { types, conflicts, leftToOthers: [...leftToOthers], contested };
}

function explicitRoutes(taskType: string, endpoint: string, announced: readonly AnnouncedType[] | undefined) {
  const own = (announced ?? []).filter((each) => each.taskType === taskType);
  const versions = new Map<number, Route>(own.map(({ version, isSync }) => [version, { endpoint, isSync }] as const));
  if (announced === undefined) return { versions, unanswered: endpoint };
  return versions.size > 0 ? { versions } : { versions, anyVersion: { endpoint, isSync: false } };
}

/** Returns the task types whose endpoints or versions differ. */
export function changedTypes(before: Routes, after: Routes): ReadonlySet<string> {
  const texts = ({ types }: Routes) => new Map([...types].map(([taskType, routes]) => [taskType, routesText(routes)] as const));
  const [old, now] = [texts(before), texts(after)];
  return new Set([...old.keys(), ...now.keys()].filter((taskType) => old.get(taskType) !== now.get(taskType)));
}

function routesText({ versions, anyVersion, unanswered }: TypeRoutes): string {
  return JSON.stringify([[...versions], anyVersion, unanswered]);
}

function mayServe({ taskTypes, excludedTaskTypes }: RoutedEndpoint, taskType: string): boolean {
  return !excludedTaskTypes.includes(taskType) && (taskTypes === undefined || taskTypes.includes(taskType));
}

export type RouteLookup =
  | { readonly kind: "found"; readonly route: Route }
  | { readonly kind: "unknownType" }
  | { readonly kind: "unanswered"; readonly endpoint: string }
  | { readonly kind: "unknownVersion"; readonly known: readonly number[]; readonly endpoints: readonly string[] };

/** Finds the endpoint of a task. */
export function findRoute({ types }: Routes, taskType: string, version: number): RouteLookup {
  const routes = types.get(taskType);
  if (routes === undefined) return { kind: "unknownType" };
  const route = routes.versions.get(version) ?? routes.anyVersion;
  if (route !== undefined) return { kind: "found", route };
  if (routes.unanswered !== undefined) return { kind: "unanswered", endpoint: routes.unanswered };
  const endpoints = [...new Set([...routes.versions.values()].map(({ endpoint }) => endpoint))];
  return { kind: "unknownVersion", known: [...routes.versions.keys()].sort((a, b) => a - b), endpoints };
}
