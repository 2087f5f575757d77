export interface Query {
  /** Names a prepared statement: the same name must always stand for the same text. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

export interface Result<T> {
  readonly rows: T[];
  /** Rows changed or returned. */
  readonly rowCount: number;
}

/** Runs statements: the pool, or one transaction. */
export interface Queryable {
  query<T = Record<string, unknown>>(query: Query): Promise<Result<T>>;
}
