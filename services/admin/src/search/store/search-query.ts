/** Query for names in a project and domain. */
export interface SearchQuery {
  readonly scope: { readonly project: string; readonly domain: string };
  readonly text: string;
  /** Patterns of ILIKE, one for each word. */
  readonly patterns: readonly string[];
  /** Maximum number of matches of each kind. */
  readonly limit: number;
}
