import { FLYTE_WORKFLOW_CRD } from "@flyte-ts/workflow-crd";
import type { ApiResponse, ApiRequest } from "./api.js";

/**
 * A request, or a function that derives it from earlier responses (resource version, token, uid).
 */
export type Step = ApiRequest | ((answers: readonly ApiResponse[]) => ApiRequest);

export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

const CORE = "/api/v1";
const NS = `${CORE}/namespaces/default`;
const CM = `${NS}/configmaps`;
const PODS = `${NS}/pods`;
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WORKFLOWS = "/apis/flyte.lyft.com/v1alpha1/namespaces/default/flyteworkflows";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const MERGE = "application/merge-patch+json";
const JSON_PATCH = "application/json-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
const METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";

const get = (path: string, accept?: string): ApiRequest => ({ method: "GET", path, ...(accept === undefined ? {} : { accept }) });
const post = (path: string, body: unknown, more: Partial<ApiRequest> = {}): ApiRequest => ({ method: "POST", path, body, ...more });
const put = (path: string, body: unknown): ApiRequest => ({ method: "PUT", path, body });
const patch = (path: string, type: string, body: unknown, accept?: string): ApiRequest => ({
  method: "PATCH",
  path,
  type,
  body,
  ...(accept === undefined ? {} : { accept }),
});
const remove = (path: string, body?: unknown): ApiRequest => ({ method: "DELETE", path, ...(body === undefined ? {} : { body }) });

const configMap = (name: string, more: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  ...more,
});
const workflow = (name: string, more: object = {}, metadata: object = {}) => ({
  apiVersion: "flyte.lyft.com/v1alpha1",
  kind: "FlyteWorkflow",
  metadata: { name, ...metadata },
  ...more,
});
/** Bound to a node that does not exist, so that no kubelet runs it. */
const pod = (name: string, more: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { nodeName: "elsewhere", containers: [{ name: "main", image: "busybox:1", command: ["true"] }], ...more },
});
const metadataOf = (answers: readonly ApiResponse[], index = -1) =>
  (answers.at(index) as ApiResponse & { body: { metadata: { resourceVersion: string; uid: string; continue: string } } }).body.metadata;
const version = (answers: readonly ApiResponse[], index?: number): string => metadataOf(answers, index).resourceVersion;
const uid = (answers: readonly ApiResponse[], index?: number): string => metadataOf(answers, index).uid;

export const PREPARATION: readonly ApiRequest[] = [post(CRDS, FLYTE_WORKFLOW_CRD)];

/** Each case uses its own names, so the order of cases does not matter. */
export const CASES: readonly Case[] = [
  {
    name: "discovery",
    steps: [
      get("/api"),
      get("/apis/flyte.lyft.com"),
      get("/apis/flyte.lyft.com/v1alpha1"),
      get("/apis/coordination.k8s.io/v1"),
      get("/healthz"),
      get("/nowhere"),
      get("/apis/no.such.group/v1"),
      get("/apis/flyte.lyft.com/v1alpha1/namespaces/default/others"),
    ],
  },
  {
    name: "create, read, delete",
    steps: [
      post(CM, configMap("crud", { data: { a: "1" } })),
      get(`${CM}/crud`),
      post(CM, configMap("crud")),
      remove(`${CM}/crud`),
      get(`${CM}/crud`),
      remove(`${CM}/crud`),
    ],
  },
  { name: "generateName", steps: [post(CM, { metadata: { generateName: "gen-" } }), post(CM, { metadata: { generateName: "Gen_" } })] },
  {
    name: "refused creations",
    steps: [
      post(CM, configMap("Not_A_Name")),
      post(CM, { metadata: {} }),
      post(CM, { kind: "Secret", apiVersion: "v1", metadata: { name: "x" } }),
      post(CM, configMap("x", {}, { namespace: "other" })),
      post(`${CORE}/namespaces/nowhere/configmaps`, configMap("x")),
      post(CM, configMap("x", {}, { resourceVersion: "5" })),
      post(CM, configMap("x", {}, { labels: { a: "b c" } })),
      post(CM, configMap("x", {}, { annotations: { "bad key!": "1" } })),
      post(CM, configMap("x", {}, { finalizers: ["unqualified"] })),
      post(CM, configMap("x", {}, { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "y" }] })),
      post(CM, configMap("x", { data: { "bad/key": "1" } })),
      post(`${CORE}/configmaps`, configMap("x")),
      post(`${CM}/x`, configMap("x")),
    ],
  },
  {
    name: "undecodable bodies",
    steps: [
      post(CM, "{not json"),
      post(CM, ""),
      post(CM, "[]"),
      post(CM, '"text"'),
      post(CM, { metadata: "text" }),
      post(CM, configMap("typed", { data: { a: 1 } })),
      post(CM, "a: 1", { type: "text/plain" }),
      post(CM, configMap("unknown", { extra: 1 })),
      post(`${CM}?fieldValidation=Strict`, configMap("strict", { extra: 1 })),
      patch(`${CM}/unknown`, "application/unknown+json", {}),
      patch(`${CM}/unknown`, MERGE, "{not json"),
      patch(`${CM}/unknown`, JSON_PATCH, {}),
      patch(`${CM}/unknown`, JSON_PATCH, [{ op: "no-such-op", path: "/data" }]),
      patch(`${CM}/unknown`, JSON_PATCH, [{ op: "remove", path: "/data/absent" }]),
      get(`${CM}/unknown`, "text/html"),
    ],
  },
  {
    name: "methods",
    steps: [
      { method: "PUT", path: CM, body: configMap("x") },
      { method: "PATCH", path: CM, type: MERGE, body: {} },
      { method: "POST", path: `${CM}/x`, body: configMap("x") },
      { method: "OPTIONS", path: CM },
      remove(`${CORE}/namespaces`),
    ],
  },
  {
    name: "replace and conflicts",
    steps: [
      post(CM, configMap("replaced", { data: { a: "1" } })),
      put(`${CM}/replaced`, configMap("replaced", { data: { a: "2" } })),
      (answers) => put(`${CM}/replaced`, configMap("replaced", { data: { a: "3" } }, { resourceVersion: version(answers, 0) })),
      (answers) => put(`${CM}/replaced`, configMap("replaced", { data: { a: "3" } }, { resourceVersion: version(answers, 1) })),
      put(`${CM}/replaced`, configMap("other-name")),
      put(`${CM}/absent`, configMap("absent")),
      put(`${CM}/replaced`, configMap("replaced", {}, { uid: "11111111-2222-3333-4444-555555555555" })),
      put(`${CM}/replaced`, configMap("replaced", {}, { resourceVersion: "not-a-number" })),
      (answers) => patch(`${CM}/replaced`, MERGE, { metadata: { resourceVersion: version(answers, 0) }, data: { b: "1" } }),
    ],
  },
  {
    name: "merge patches",
    steps: [
      post(CM, configMap("merged", { data: { a: "1", b: "2" } }, { labels: { x: "1" } })),
      patch(`${CM}/merged`, MERGE, { data: { a: null, c: "3" }, metadata: { labels: { y: "2" } } }),
      patch(`${CM}/merged`, MERGE, { metadata: { annotations: { z: "1" } } }, METADATA),
      patch(`${CM}/merged`, MERGE, { metadata: { name: "renamed" } }),
      patch(`${CM}/merged`, MERGE, { metadata: { uid: "11111111-2222-3333-4444-555555555555" } }),
      patch(`${CM}/absent`, MERGE, { data: {} }),
      patch(`${CM}/merged`, MERGE, {}),
      patch(`${CM}/merged`, JSON_PATCH, [
        { op: "test", path: "/data/c", value: "3" },
        { op: "replace", path: "/data/c", value: "4" },
      ]),
      patch(`${CM}/merged`, JSON_PATCH, [{ op: "test", path: "/data/c", value: "no" }]),
    ],
  },
  {
    name: "strategic patches and apply",
    steps: [
      post(PODS, pod("strategic")),
      patch(`${PODS}/strategic`, STRATEGIC, {
        metadata: { labels: { a: "1" } },
        spec: { containers: [{ name: "main", image: "busybox:2" }] },
      }),
      patch(`${PODS}/strategic`, STRATEGIC, { spec: { containers: [{ name: "other", image: "busybox:2" }] } }),
      patch(`${WORKFLOWS}/absent`, STRATEGIC, {}),
      patch(`${CM}/applied?fieldManager=test`, APPLY, configMap("applied", { data: { a: "1" } })),
      patch(`${CM}/applied?fieldManager=test`, APPLY, configMap("applied", { data: { b: "1" } })),
      patch(`${CM}/applied`, APPLY, configMap("applied")),
      remove(`${PODS}/strategic`, { gracePeriodSeconds: 0 }),
    ],
  },
  {
    name: "custom resources",
    steps: [
      post(WORKFLOWS, workflow("w", { spec: { id: "x", nodes: { a: [1, null, { b: "c" }] } }, status: { phase: 1 } })),
      patch(`${WORKFLOWS}/w`, MERGE, { status: { phase: 2 } }),
      patch(`${WORKFLOWS}/w`, MERGE, { spec: { id: "y" } }),
      patch(`${WORKFLOWS}/w`, MERGE, { metadata: { labels: { a: "1" } } }, METADATA),
      patch(`${WORKFLOWS}/w/status`, MERGE, { status: { phase: 3 } }),
      get(`${WORKFLOWS}/w`, METADATA),
      get(WORKFLOWS, METADATA_LIST),
      get(WORKFLOWS, TABLE),
      post(WORKFLOWS, { metadata: { name: "untyped" } }),
      post(WORKFLOWS, workflow("Bad_Name")),
      post(WORKFLOWS, { ...workflow("wrong"), apiVersion: "flyte.lyft.com/v2" }),
      remove(`${WORKFLOWS}/w`),
      get(WORKFLOWS, METADATA_LIST),
      get(WORKFLOWS),
    ],
  },
  {
    name: "definitions",
    steps: [
      post(CRDS, FLYTE_WORKFLOW_CRD),
      post(CRDS, { ...FLYTE_WORKFLOW_CRD, metadata: { name: "wrong.flyte.lyft.com" } }),
      post(CRDS, {
        ...FLYTE_WORKFLOW_CRD,
        metadata: { name: "things.test.org" },
        spec: { ...FLYTE_WORKFLOW_CRD.spec, group: "test.org", names: { kind: "Thing", plural: "things" }, versions: [] },
      }),
      post(CRDS, { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name: "things.test.org" } }),
    ],
  },
  {
    name: "status subresource",
    steps: [
      post(PODS, pod("status")),
      patch(`${PODS}/status/status`, MERGE, { status: { phase: "Running" }, metadata: { labels: { kept: "out" } } }),
      patch(`${PODS}/status`, MERGE, { status: { phase: "Failed" } }),
      get(`${PODS}/status/status`),
      patch(`${CM}/any/status`, MERGE, {}),
      remove(`${PODS}/status`, { gracePeriodSeconds: 0 }),
    ],
  },
  {
    name: "refused pods",
    steps: [
      post(PODS, { ...pod("empty"), spec: { containers: [] } }),
      post(PODS, pod("imageless", { containers: [{ name: "main" }] })),
      post(PODS, pod("policy", { restartPolicy: "Sometimes" })),
      post(
        PODS,
        pod("twice", {
          containers: [
            { name: "a", image: "x" },
            { name: "a", image: "y" },
          ],
        }),
      ),
      post(PODS, pod("name", { containers: [{ name: "Not_A_Name", image: "x" }] })),
      post(PODS, pod("amount", { containers: [{ name: "a", image: "x", resources: { requests: { cpu: "many" } } }] })),
      post(PODS, pod("limits", { containers: [{ name: "a", image: "x", resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }] })),
      post(PODS, pod("mount", { containers: [{ name: "a", image: "x", volumeMounts: [{ name: "no", mountPath: "/a" }] }] })),
    ],
  },
  {
    name: "deleting pods",
    steps: [
      post(PODS, pod("deleted")),
      remove(`${PODS}/deleted`, { preconditions: { uid: "11111111-2222-3333-4444-555555555555" } }),
      remove(`${PODS}/deleted`, { gracePeriodSeconds: 7 }),
      get(`${PODS}/deleted`),
      patch(`${PODS}/deleted`, MERGE, { metadata: { finalizers: ["test.org/late"] } }),
      (answers) => remove(`${PODS}/deleted`, { gracePeriodSeconds: 0, preconditions: { uid: uid(answers, 0) } }),
      get(`${PODS}/deleted`),
    ],
  },
  {
    name: "finalizers",
    steps: [
      post(WORKFLOWS, workflow("held", {}, { finalizers: ["flyte.org/finalizer-k8s"] })),
      remove(`${WORKFLOWS}/held`),
      get(`${WORKFLOWS}/held`),
      remove(`${WORKFLOWS}/held`),
      patch(`${WORKFLOWS}/held`, MERGE, { metadata: { finalizers: ["flyte.org/finalizer-k8s", "test.org/another"] } }),
      patch(`${WORKFLOWS}/held`, MERGE, { spec: { still: "written" } }),
      patch(`${WORKFLOWS}/held`, MERGE, { metadata: { finalizers: [] } }),
      get(`${WORKFLOWS}/held`),
    ],
  },
  {
    name: "foreground and orphaned",
    steps: [
      post(WORKFLOWS, workflow("owner")),
      (answers) =>
        post(
          CM,
          configMap(
            "owned",
            {},
            {
              ownerReferences: [
                {
                  apiVersion: "flyte.lyft.com/v1alpha1",
                  kind: "FlyteWorkflow",
                  name: "owner",
                  uid: uid(answers),
                  blockOwnerDeletion: true,
                },
              ],
            },
          ),
        ),
      remove(`${WORKFLOWS}/owner`, { propagationPolicy: "Foreground" }),
      remove(`${WORKFLOWS}/owner`, { propagationPolicy: "Nonsense" }),
      remove(`${CM}/owned`, { orphanDependents: true, propagationPolicy: "Orphan" }),
    ],
  },
  {
    name: "selectors",
    steps: [
      post(CM, configMap("sel-a", {}, { labels: { sel: "a", tier: "x" } })),
      post(CM, configMap("sel-b", {}, { labels: { sel: "b" } })),
      ...["sel=a", "sel!=a,sel", "sel in (a,b)", "sel notin (a),sel", "sel,!tier", "sel==b", "sel in (", "a b", "sel>1"].map((selector) =>
        get(`${CM}?labelSelector=${encodeURIComponent(selector)}`),
      ),
      ...[
        "metadata.name=sel-a",
        "metadata.name!=sel-a,metadata.name=sel-b",
        "data.a=1",
        "metadata.namespace=default,metadata.name=sel-a",
        "nonsense",
      ].map((selector) => get(`${CM}?fieldSelector=${encodeURIComponent(selector)}`)),
      get(`${PODS}?fieldSelector=${encodeURIComponent("spec.nodeName=none,status.phase=Running")}`),
      get(`${CORE}/configmaps?labelSelector=sel`),
      { method: "DELETE", path: `${CM}?labelSelector=sel` },
      get(`${CM}?labelSelector=sel`),
    ],
  },
  {
    name: "pages",
    steps: [
      ...["1", "2", "3"].map((n) => post(CM, configMap(`page-${n}`, {}, { labels: { page: "yes" } }))),
      get(`${CM}?labelSelector=page&limit=2`),
      (answers) => get(`${CM}?labelSelector=page&limit=2&continue=${encodeURIComponent(metadataOf(answers).continue)}`),
      get(`${CM}?limit=1&continue=nonsense`),
      get(`${CM}?limit=none`),
      get(`${CM}?labelSelector=page&resourceVersion=0`),
      get(`${CM}?labelSelector=page&resourceVersionMatch=Exact`),
      get(`${CM}?resourceVersion=nonsense`),
    ],
  },
  {
    name: "tables",
    steps: [
      post(CM, configMap("table", { data: { a: "1", b: "2" } }, { labels: { table: "yes" } })),
      post(`${NS}/secrets`, { metadata: { name: "table", labels: { table: "yes" } }, stringData: { a: "1" } }),
      post(PODS, pod("table", {}, { labels: { table: "yes" } })),
      get(`${CM}?labelSelector=table`, TABLE),
      get(`${CM}/table`, TABLE),
      get(`${NS}/secrets?labelSelector=table`, TABLE),
      get(`${PODS}?labelSelector=table`, TABLE),
      get(`${CORE}/namespaces?fieldSelector=metadata.name%3Ddefault`, TABLE),
      get(`${LEASES}`, TABLE),
      get(CRDS, TABLE),
      remove(`${PODS}/table`, { gracePeriodSeconds: 0 }),
    ],
  },
  {
    name: "watches",
    steps: [
      post(CM, configMap("watched", { data: { a: "1" } }, { labels: { watched: "yes" } })),
      patch(`${CM}/watched`, MERGE, { data: { a: "2" } }),
      patch(`${CM}/watched`, MERGE, { metadata: { labels: { watched: null } } }),
      patch(`${CM}/watched`, MERGE, { metadata: { labels: { watched: "again" } } }),
      remove(`${CM}/watched`),
      (answers) => get(`${CM}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dwatched&resourceVersion=${version(answers, 0)}`),
      (answers) => get(`${CM}?watch=1&timeoutSeconds=1&labelSelector=watched&resourceVersion=${version(answers, 0)}`),
      (answers) => get(`${CM}?watch=1&timeoutSeconds=1&labelSelector=watched&resourceVersion=${version(answers, 0)}`, METADATA),
      get(`${CM}?watch=1&timeoutSeconds=1&resourceVersion=1`),
      get(`${CM}?watch=1&timeoutSeconds=1&resourceVersion=nonsense`),
      get(`${CORE}/namespaces?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Ddefault`),
    ],
  },
  {
    name: "leases and events",
    steps: [
      post(LEASES, {
        metadata: { name: "lease" },
        spec: { holderIdentity: "a", leaseDurationSeconds: 10, renewTime: "2026-01-01T00:00:00.000000Z" },
      }),
      (answers) =>
        put(`${LEASES}/lease`, {
          metadata: { name: "lease", resourceVersion: version(answers) },
          spec: { holderIdentity: "b", leaseDurationSeconds: 10 },
        }),
      (answers) =>
        put(`${LEASES}/lease`, { metadata: { name: "lease", resourceVersion: version(answers, 0) }, spec: { holderIdentity: "c" } }),
      post(LEASES, { metadata: { name: "negative" }, spec: { leaseDurationSeconds: -1 } }),
      post(`${NS}/events`, {
        metadata: { name: "event" },
        involvedObject: { kind: "Pod", namespace: "default", name: "p" },
        reason: "Tested",
        message: "it",
        type: "Normal",
      }),
      get(`${NS}/events?fieldSelector=involvedObject.name%3Dp`),
      get("/apis/events.k8s.io/v1/namespaces/default/events/event"),
      post(`${NS}/events`, { metadata: { name: "elsewhere" }, involvedObject: { kind: "Pod", namespace: "other", name: "p" } }),
    ],
  },
  {
    name: "namespaces",
    steps: [
      post(`${CORE}/namespaces`, { metadata: { name: "made" } }),
      post(`${CORE}/namespaces`, { metadata: { name: "made" } }),
      post(`${CORE}/namespaces`, { metadata: { name: "a".repeat(64) } }),
      get(`${CORE}/namespaces/made`),
      remove(`${CORE}/namespaces/default`),
      remove(`${CORE}/namespaces/absent`),
    ],
  },
  {
    name: "reviews and dry runs",
    steps: [
      post(`${CM}?dryRun=All`, configMap("dry")),
      get(`${CM}/dry`),
      post(`${CM}?dryRun=Some`, configMap("dry")),
      post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { spec: { resourceAttributes: { verb: "get", resource: "pods" } } }),
    ],
  },
];
