import { create } from "@bufbuild/protobuf";
import { SortSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { Database, Query } from "@flyte-ts/postgres";
import type { Combination, Listed } from "./combinations.fixture.js";
import { selectPage } from "../platform/list-query/plan.js";

interface Node {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly Plans?: readonly Node[];
}

/** Query plan of a list. */
export interface Explained {
  /** Tables with a sequential scan. */
  readonly whole: readonly string[];
  /** Maximum of rows that any node of the plan read, sorted or discarded. */
  readonly rows: number;
  /** Kinds of plan nodes, with their rows. */
  readonly shape: string;
}

/** Lists a page of 100 rows, as admin does. */
export async function page(db: Database, listed: Listed, combination: Combination): Promise<readonly object[]> {
  const { rows } = await db.query<object>(await query(listed, combination));
  return rows;
}

async function query({ request, select, plan }: Listed, { filters, sort }: Combination): Promise<Query> {
  const sortBy = sort === undefined ? {} : { sortBy: create(SortSchema, { key: sort[0], direction: sort[1] }) };
  return selectPage(await plan({ rpc: "List", limit: 100, token: "", filters, ...sortBy, ...request }), select);
}

/** Lists a page of 100 rows, and returns its query plan. */
export async function explain(db: Database, listed: Listed, combination: Combination): Promise<Explained> {
  return explainQuery(db, await query(listed, combination));
}

/** Runs a statement, and returns its query plan. */
export async function explainQuery(db: Database, { text, values }: Query): Promise<Explained> {
  const { rows } = await db.query<{ "QUERY PLAN": [{ Plan: Node }] }>({
    text: `EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, FORMAT JSON) ${text}`,
    ...(values && { values }),
  });
  const root = rows[0]?.["QUERY PLAN"][0].Plan;
  const all = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(all)];
  const nodes = root === undefined ? [] : all(root);
  const touched = (node: Node) =>
    (node["Actual Rows"] +
      (node["Rows Removed by Filter"] ?? 0) +
      (node["Rows Removed by Index Recheck"] ?? 0) +
      (node["Rows Removed by Join Filter"] ?? 0)) *
    node["Actual Loops"];
  return {
    whole: nodes.filter((node) => node["Node Type"] === "Seq Scan").map((node) => node["Relation Name"] ?? ""),
    rows: Math.max(0, ...nodes.map(touched)),
    shape: nodes.map((node) => `${node["Node Type"]} ${node["Index Name"] ?? node["Relation Name"] ?? ""} ${touched(node)}`).join(" < "),
  };
}
