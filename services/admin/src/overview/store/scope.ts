/** Project and domain of an overview. */
export interface Scope {
  readonly project: string;
  readonly domain: string;
}
