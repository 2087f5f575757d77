import { type Queryable, textArray } from "@flyte-ts/postgres";
import type { SearchQuery } from "./search-query.js";

export interface NameRow {
  resource_type: number;
  name: string;
}

/** Finds names of entities that contain all words, the best of each type first. */
export async function findNames(db: Queryable, { scope, text, patterns, limit }: SearchQuery): Promise<readonly NameRow[]> {
  const { rows } = await db.query<NameRow>({
    name: "search-names",
    text: `SELECT given.type AS resource_type, n.name FROM unnest(ARRAY[2, 3, 1]) WITH ORDINALITY AS given (type, place)
      CROSS JOIN LATERAL (SELECT name, CASE WHEN lower(name) = $4 THEN 0 WHEN starts_with(lower(name), $4) THEN 1 ELSE 2 END AS rank
        FROM named_entities WHERE resource_type = given.type AND project = $1 AND domain = $2 AND state = 0 AND name ILIKE ALL ($3::text[])
        ORDER BY rank, length(name), name LIMIT $5) AS n
      ORDER BY given.place, n.rank, length(n.name), n.name`,
    values: [scope.project, scope.domain, textArray(patterns), text.toLowerCase(), limit],
  });
  return rows;
}
