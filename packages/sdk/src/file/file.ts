/** A file in the blob store, fetched when it is opened. */
export interface FlyteFile {
  readonly uri: string;
  /** Downloads the file once; returns its local path. */
  path(): Promise<string>;
  text(): Promise<string>;
  bytes(): Promise<Uint8Array>;
  stream(): AsyncIterable<Uint8Array>;
}

/** A file that does not exist in the blob store yet, or exists at an address. */
export type FileSource =
  | { readonly path: string }
  | { readonly uri: string }
  | { readonly content: string | Uint8Array | AsyncIterable<Uint8Array> };

/** A folder in the blob store. */
export interface FlyteDirectory {
  readonly uri: string;
  /** Downloads the folder once; returns its local path. */
  path(): Promise<string>;
  list(): AsyncIterable<FlyteFile>;
}

export type DirectorySource = { readonly path: string } | { readonly uri: string };

/** A table of apache-arrow. */
export interface ArrowTable {
  readonly schema: { readonly fields: readonly { readonly name: string }[] };
  readonly numRows: number;
  toArray(): readonly unknown[];
}

/** Rows in the blob store, in Parquet. */
export interface FlyteDataset<Row> {
  readonly uri: string;
  readonly format: string;
  rows(): AsyncIterable<Row>;
}

/**
 * Access to the blob store. Addresses are URIs; those under `allocate` belong to the running task.
 */
export interface FileStore {
  /** Returns a new address for a file or folder; `name` ends it when it is given. */
  allocate(name?: string): string;
  read(uri: string): AsyncIterable<Uint8Array>;
  write(uri: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** False where folders cannot be listed; default true. */
  readonly listsFolders?: boolean;
  /** Lists the addresses of all files below a folder; they begin with the folder's address. */
  list(uri: string): AsyncIterable<string>;
  /** Returns a new local path for a download, whose last part is `name`. */
  scratch(name: string): Promise<string>;
}
